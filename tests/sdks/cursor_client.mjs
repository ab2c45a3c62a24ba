// cursor_client.mjs all: a Cursor client as it is published, `@blowmage/cursor-agent-acp`, which starts us as `cursor-agent`.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { promisify } from 'node:util';
import { assert, golden, main, scenario, workspace } from './scenarios.mjs';

const client = path.join(process.env.TEST_MODULES, '@blowmage/cursor-agent-acp/dist/bin/cursor-agent-acp.js');
const started = (backend, folder) => ({ args: [client, '-l', 'error', '-r', '0', '--session-dir', folder], options: { cwd: workspace, env: { ...process.env, AGENTGLOT_BACKEND: backend } } });

/** A conversation in the Agent Client Protocol: requests by line, notices in between. */
class Acp {
  constructor(backend) {
    const { args, options } = started(backend, fs.mkdtempSync(path.join(process.env.TMPDIR, 'acp-')));
    this.child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = new Map();
    this.notices = [];
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
      let message;
      try { message = JSON.parse(line); } catch { return; }
      const resolve = this.waiting.get(message.id);
      if (resolve && ('result' in message || 'error' in message)) resolve(message);
      else this.notices.push(message);
    });
  }
  async ask(method, params) {
    const id = this.waiting.size + 1;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n');
    const { result, error } = await answer;
    assert.ok(result, `${method}: ${JSON.stringify(error)}`);
    return result;
  }
  get text() {
    const updates = this.notices.map((notice) => notice.params?.update).filter((update) => update?.sessionUpdate === 'agent_message_chunk');
    return updates.map((update) => update.content?.text ?? '').join('');
  }
  async close() {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill();
    await gone;
  }
}

async function talk(backend, text) {
  const acp = new Acp(backend);
  try {
    await acp.ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const session = await acp.ask('session/new', { cwd: workspace, mcpServers: [] });
    assert.ok((session.models?.availableModels ?? []).length > 0, 'it knows no models');
    const answer = await acp.ask('session/prompt', { sessionId: session.sessionId, prompt: [{ type: 'text', text }] });
    return { answer, text: acp.text };
  } finally { await acp.close(); }
}

scenario('all', 'it_takes_us_for_the_program', async () => {
  const { args, options } = started('demo', fs.mkdtempSync(path.join(process.env.TMPDIR, 'acp-')));
  await promisify(execFile)(process.execPath, [args[0], '--test-cursor', ...args.slice(3)], options);
});

scenario('all', 'the_demo_answers', async () => {
  const { answer, text } = await talk('demo', 'Show me.');
  assert.equal(answer.stopReason, 'end_turn');
  // The client starts us with --force.
  assert.match(text, /This was a demonstration/);
});

scenario('all', 'recorded_answers_come_as_they_were', async () => {
  for (const [log, wanted] of [['cursor/partial_shell.jsonl', /zweite Zeile\tmit Tab/], ['claude/cli_parallel_partial.out.jsonl', /All three done\./], ['qwen-code/plain_text_partial.out.jsonl', /./]]) {
    const { answer, text } = await talk(`replay:${golden}/${log}`, 'go');
    assert.equal(answer.stopReason, 'end_turn', log);
    assert.match(text, wanted, log);
  }
});

await main();
