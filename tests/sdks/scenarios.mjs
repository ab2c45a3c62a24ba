// What the scripts in JavaScript share: they name scenarios, and each gets a deadline and a line of the output.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

export { assert };
export const { TEST_CLI: cli, TEST_BACKEND: backend, TEST_GOLDEN: golden, WORKSPACE: workspace, MODEL_URL: model } = process.env;
export const inWorkspace = (name) => path.join(workspace, name);
export const askedOfModel = async () => (await fetch(model + '/asked')).json();

const all = [];
/** `groups`: the groups of scenarios that it belongs to, with blanks between them. */
export const scenario = (groups, name, run) => all.push({ groups: groups.split(' '), name, run });

/** Runs the scenarios of the groups that the command line names, with `+` between them. `TEST_ONLY` is a part of the names of those that run. */
export async function main() {
  let failed = 0;
  const wanted = process.argv[2].split('+'), only = process.env.TEST_ONLY ?? '';
  for (const { name, run } of all.filter(({ groups, name }) => name.includes(only) && groups.some((group) => wanted.includes(group)))) {
    const since = Date.now();
    let why, timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('it takes longer than 90 s')), 90_000); });
    try { await Promise.race([run(), late]); } catch (error) { failed += 1; why = String(error?.stack ?? error).split('\n').slice(0, 30).join(' / ').slice(0, 900); }
    clearTimeout(timer);
    console.log(`${why ? 'FAILED' : 'ok'} ${name} (${((Date.now() - since) / 1000).toFixed(1)} s)${why ? ' ' + why : ''}`);
  }
  process.exit(failed ? 1 : 0);
}

export const deferred = () => { let release; const promise = new Promise((resolve) => { release = resolve; }); return { promise, release }; };
export const prompt = (text) => ({ type: 'user', session_id: '', message: { role: 'user', content: text }, parent_tool_use_id: null });

/** A host's prompts, one after the other; the next one goes out when `next` is called. */
export function prompts(...texts) {
  const gates = texts.map(deferred);
  let at = 0;
  return {
    next: () => gates[at++].release(),
    async *[Symbol.asyncIterator]() { for (const [n, text] of texts.entries()) { yield prompt(text); await gates[n].promise; } },
  };
}

export const blocks = (messages, type, kind) => messages.filter((m) => m.type === type && Array.isArray(m.message.content)).flatMap((m) => m.message.content).filter((b) => b.type === kind);
export const said = (messages) => blocks(messages, 'assistant', 'text').map((b) => b.text).join('');
export const uses = (messages) => blocks(messages, 'assistant', 'tool_use');
export const results = (messages) => blocks(messages, 'user', 'tool_result');
export const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''));
export const deltas = (messages) => messages.filter((m) => m.type === 'stream_event' && m.event.type === 'content_block_delta').map((m) => m.event.delta);
export const inits = (messages) => messages.filter((m) => m.type === 'system' && m.subtype === 'init');
export const outcomes = (messages) => messages.filter((m) => m.type === 'result');
export const collect = async (query) => { const messages = []; for await (const message of query) messages.push(message); return messages; };

/** The one result, and that it went well with `text`. */
export function result(messages, text) {
  const [only, ...more] = outcomes(messages);
  assert.equal(more.length, 0, 'more than one result');
  if (text !== undefined) {
    assert.equal(only.is_error, false, JSON.stringify(only));
    assert.equal(only.result, text);
  }
  return only;
}

/** The messages of each turn; `atTheEnd` gets the session behind the last one. */
export async function turnsOf(ask, texts, options, between = async () => {}, atTheEnd = async () => {}) {
  const host = prompts(...texts), session = ask(host, options), all = [[]];
  for await (const message of session) {
    all.at(-1).push(message);
    if (message.type !== 'result') continue;
    if (all.length < texts.length) await between(session, all.length, all.at(-1));
    else await atTheEnd(session);
    host.next();
    if (all.length === texts.length) break;
    all.push([]);
  }
  return all;
}

/** What every SDK promises in the same words: `ask` is its `query`, `stopped` looks at the result of a turn that was interrupted. */
export function promisedByAll(ask, stopped) {
  scenario('agent', 'an_interrupt_ends_the_turn_and_not_the_session', async () => {
    const host = prompts('{{slow 30}}', '{{say Still here.}}'), session = ask(host, { includePartialMessages: true }), messages = [];
    let since;
    for await (const message of session) {
      messages.push(message);
      if (since === undefined && message.type === 'stream_event' && message.event.type === 'content_block_delta') {
        since = Date.now();
        await session.interrupt();
      }
      if (message.type !== 'result') continue;
      if (outcomes(messages).length === 2) break;
      assert.ok(Date.now() - since < 10_000, 'it took too long');
      host.next();
    }
    const [first, after] = outcomes(messages);
    stopped(first);
    assert.equal(after.result, 'Still here.');
    await session.close();
  });

  scenario('agent', 'it_can_be_aborted', async () => {
    const abortController = new AbortController();
    let error;
    try {
      for await (const message of ask('{{slow 30}}', { abortController, includePartialMessages: true })) if (message.type === 'stream_event') abortController.abort();
    } catch (thrown) { error = thrown; }
    assert.ok(error, 'it ended as if nothing had happened');
  });
}

/** An MCP server that is a program of its own, as a host's configuration names it: its one tool says what stands in its environment. */
export function farServer(word) {
  const program = inWorkspace('far_server.mjs');
  fs.writeFileSync(program, `import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'word', description: 'says a word', inputSchema: { type: 'object', properties: {} } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: 'the word is ' + process.env.WORD }] } });
  else say({ id, result: {} });
});
`);
  return { command: process.execPath, args: [program], env: { WORD: word } };
}
