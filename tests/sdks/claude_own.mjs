// What an agent promises to the Claude Agent SDK beyond a turn: sessions, settings, prompts, hooks, agents, limits. Group `own`.
import fs from 'node:fs';
import path from 'node:path';
import { ask, turns } from './claude_host.mjs';
import { askedOfModel, assert, collect, deferred, farServer, inits, inWorkspace, prompt, prompts, result, results, said, scenario, textOf, uses, workspace } from './scenarios.mjs';

/** A folder of its own with files in it, and what the model was asked with a word in it. */
function folder(name, files = {}) {
  const here = inWorkspace(name);
  fs.mkdirSync(here, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(here, file)), { recursive: true });
    fs.writeFileSync(path.join(here, file), text);
  }
  return here;
}
const askedWith = async (word) => (await askedOfModel()).filter(({ said }) => said.includes(word));
const allow = async (name, input) => ({ behavior: 'allow', updatedInput: input });
const fails = async (query) => {
  const messages = [];
  try { for await (const message of query) messages.push(message); } catch { /* behind the result */ }
  return messages;
};

scenario('own', 'leave_may_be_given_for_the_session', async () => {
  const asked = [];
  const canUseTool = async (name, input, { suggestions }) => { asked.push(suggestions?.length ?? 0); return { behavior: 'allow', updatedInput: input, updatedPermissions: suggestions }; };
  const [messages] = await turns([`{{write ${inWorkspace('own-a')} one}} {{write ${inWorkspace('own-b')} two}} {{say Done.}}`], { canUseTool });
  assert.equal(asked.length, 1, 'it was asked again');
  assert.ok(asked[0] > 0, 'nothing is suggested');
  assert.equal(fs.readFileSync(inWorkspace('own-b'), 'utf8').trim(), 'two');
  result(messages, 'Done.');
});

scenario('own', 'a_refusal_may_stop_the_turn', async () => {
  const canUseTool = async () => ({ behavior: 'deny', message: 'stop', interrupt: true });
  const [messages] = await turns([`{{write ${inWorkspace('own-stop')} x}} {{say Never.}}`], { canUseTool });
  assert.equal(result(messages).subtype, 'error_during_execution');
  assert.equal(result(messages).permission_denials.length, 1);
});

scenario('own', 'hooks_are_called_where_each_belongs', async () => {
  const heard = [];
  const hook = async (told) => { heard.push(told.hook_event_name); return {}; };
  const events = ['UserPromptSubmit', 'PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart', 'SubagentStop', 'Stop'];
  const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
  const script = `{{write ${inWorkspace('own-hooks')} x}} {{read ${inWorkspace('own-nothing')}}} {{call Task {"description": "look", "prompt": "Look.", "subagent_type": "general-purpose"}}} {{say Done.}}`;
  const [messages] = await turns([script], { hooks, canUseTool: allow });
  result(messages, 'Done.');
  for (const event of events) assert.ok(heard.includes(event), `${event} is not among ${heard}`);
  assert.ok(heard.indexOf('PreToolUse') < heard.indexOf('PermissionRequest') && heard.indexOf('PermissionRequest') < heard.indexOf('PostToolUse'), heard.join());
});

scenario('own', 'hooks_may_stop_add_and_refuse', async () => {
  const hooks = {
    UserPromptSubmit: [{ hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'the context of own-hook' } })] }],
    PreToolUse: [{ matcher: 'Bash', hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'the hook minds' } })] }],
    PostToolUse: [{ matcher: 'Read', hooks: [async () => ({ continue: false, stopReason: 'enough of it' })] }],
  };
  fs.writeFileSync(inWorkspace('own-read'), 'to read\n');
  const [messages] = await turns([`{{shell echo own-hook}} {{read ${inWorkspace('own-read')}}} {{say Never said.}}`], { hooks, allowedTools: ['Bash'] });
  assert.match(textOf(results(messages)[0].content), /the hook minds/);
  assert.ok((await askedWith('the context of own-hook')).length > 0, 'the model was told nothing of it');
  assert.ok(!said(messages).includes('Never said.'), 'the hook did not stop it');
});

scenario('own', 'a_stop_hook_may_go_on', async () => {
  let stops = 0;
  const Stop = [{ hooks: [async ({ stop_hook_active }) => (stops++ === 0 ? (assert.equal(stop_hook_active, false), { decision: 'block', reason: 'There is {{say one more thing.}} to say.' }) : {})] }];
  const [messages] = await turns(['{{say First.}} {{say Second.}}'], { hooks: { Stop } });
  assert.equal(stops, 2);
  assert.match(said(messages), /First\./);
  assert.match(result(messages).result, /one more thing|Second/);
});

scenario('own', 'agents_of_the_host_and_what_they_say', async () => {
  const agents = { finder: { description: 'Finds things', prompt: 'You are the finder of own-agents.', tools: ['Read'], model: 'haiku' } };
  const script = '{{call Task {"description": "find", "prompt": "Find it.", "subagent_type": "finder"}}} {{say Done.}}';
  const [messages] = await turns([script], { agents, forwardSubagentText: true });
  assert.ok(inits(messages)[0].agents.includes('finder'));
  const call = uses(messages)[0].id;
  assert.ok(messages.some((m) => m.type === 'assistant' && m.parent_tool_use_id === call && m.message.content.some((b) => b.type === 'text')), 'its text does not show');
  assert.match(textOf(results(messages).find((r) => r.tool_use_id === call).content), /There is no script/);
  assert.ok((await askedWith('the finder of own-agents')).length > 0, 'its prompt did not reach the model');
  result(messages, 'Done.');
});

scenario('own', 'what_there_is_is_told_in_full', async () => {
  const host = prompts('{{say Here.}}'), session = ask(host, { agents: { finder: { description: 'Finds things', prompt: 'Find.' } }, mcpServers: { far: farServer('x') } });
  assert.ok((await session.supportedAgents()).some(({ name }) => name === 'finder'));
  for await (const message of session) if (message.type === 'result') break;
  session.close();
  const again = ask(prompts('{{say Here.}}'), { mcpServers: { far: farServer('x') } });
  await again.initializationResult();
  const until = Date.now() + 20_000;
  let status;
  do status = (await again.mcpServerStatus()).find(({ name }) => name === 'far')?.status; while (status === 'pending' && Date.now() < until);
  assert.equal(status, 'connected');
  const usage = await again.getContextUsage();
  assert.ok(usage.maxTokens > 0 && Array.isArray(usage.categories), JSON.stringify(usage).slice(0, 300));
  again.close();
});

scenario('own', 'a_session_is_gone_on_with_and_forked', async () => {
  const first = result(await collect(ask('{{say The first of own-resume.}}')));
  const resumed = result(await collect(ask('{{say The second of own-resume.}}', { resume: first.session_id })), 'The second of own-resume.');
  assert.equal(resumed.session_id, first.session_id);
  const forked = result(await collect(ask('{{say The third of own-resume.}}', { resume: first.session_id, forkSession: true })), 'The third of own-resume.');
  assert.notEqual(forked.session_id, first.session_id);
  const [last] = (await askedWith('{{say The third of own-resume.}}')).slice(-1);
  for (const word of ['The first of own-resume.', 'The second of own-resume.']) assert.ok(last.said.includes(word), 'no history');
  const here = folder('own-continue');
  const begun = result(await collect(ask('{{say Begun.}}', { cwd: here })));
  const went = result(await collect(ask('{{say Went on.}}', { cwd: here, continue: true })), 'Went on.');
  assert.equal(went.session_id, begun.session_id);
});

scenario('own', 'a_session_is_gone_on_with_at_a_message', async () => {
  const [first, second] = await turns(['{{say One of own-at.}}', '{{say Two of own-at.}}']);
  const at = first.findLast((m) => m.type === 'assistant').uuid;
  result(await collect(ask('{{say Three of own-at.}}', { resume: result(second).session_id, resumeSessionAt: at })), 'Three of own-at.');
  const [last] = (await askedWith('{{say Three of own-at.}}')).slice(-1);
  assert.ok(last.said.includes('One of own-at.') && !last.said.includes('Two of own-at.'), last.said.slice(0, 600));
});

scenario('own', 'a_session_has_the_id_that_was_wanted', async () => {
  const sessionId = '5f0c9d2e-7a41-4c0b-9d35-0123456789ab';
  assert.equal(result(await collect(ask('{{say Aye.}}', { sessionId })), 'Aye.').session_id, sessionId);
});

scenario('own', 'an_answer_in_a_schema', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
  const messages = await collect(ask('{{call StructuredOutput {"n": "none"}}} {{call StructuredOutput {"n": 4}}} {{say Done.}}', { outputFormat: { type: 'json_schema', schema } }));
  assert.deepEqual(result(messages).structured_output, { n: 4 });
  assert.equal(result(messages).subtype, 'success');
  assert.equal(results(messages)[0].is_error, true, 'what does not fit was taken');
});

scenario('own', 'rounds_and_money_are_limited', async () => {
  const rounds = await fails(ask('{{shell echo 1}} {{shell echo 2}} {{shell echo 3}} {{say Done.}}', { allowedTools: ['Bash'], maxTurns: 2 }));
  assert.equal(result(rounds).subtype, 'error_max_turns');
  const money = await fails(ask('{{shell echo 1}} {{shell echo 2}} {{say Done.}}', { allowedTools: ['Bash'], maxBudgetUsd: 0.00000001, model: 'claude-sonnet-4-5' }));
  assert.equal(result(money).subtype, 'error_max_budget_usd');
  assert.ok(result(money).total_cost_usd > 0);
});

scenario('own', 'the_system_prompt_is_the_hosts', async () => {
  const system = ({ said }) => { const [own, first] = JSON.parse(said); return JSON.stringify(own ?? (first.role === 'system' ? first : '')); };
  const ask1 = async (word, systemPrompt, more = {}) => { result(await collect(ask(`{{say ${word}.}}`, { systemPrompt, ...more }))); return system((await askedWith(`{{say ${word}.}}`))[0]); };
  const plain = await ask1('own-plain', undefined), own = await ask1('own-string', 'You are a pirate.'), empty = await ask1('own-empty', '');
  const preset = await ask1('own-preset', { type: 'preset', preset: 'claude_code' }), more = await ask1('own-append', { type: 'preset', preset: 'claude_code', append: 'Say it like a pirate.' });
  assert.match(own, /You are a pirate\./);
  assert.ok(own.length < preset.length && empty.length < preset.length, [own.length, empty.length, preset.length].join());
  assert.match(more, /Say it like a pirate\./);
  assert.ok(more.length > preset.length && plain.length < preset.length, 'nothing was added');
});

scenario('own', 'settings_and_memory_are_read_where_they_are_wanted', async () => {
  const cwd = folder('own-settings', {
    'CLAUDE.md': 'The word of own-settings is swordfish.\n',
    '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(printenv *)'], deny: ['Bash(date:*)'] }, env: { OWN_WORD: 'from-settings' } }),
    '.claude/commands/greet.md': '---\ndescription: greets\n---\nGreet $ARGUMENTS now. {{say Hello.}}\n',
    '.claude/agents/helper.md': '---\nname: helper\ndescription: helps\n---\nYou help.\n',
  });
  const script = '{{shell printenv OWN_WORD}} {{shell date}} {{say own-settings it is.}}';
  const messages = await collect(ask(script, { cwd, settingSources: ['project'] }));
  result(messages, 'own-settings it is.');
  assert.match(textOf(results(messages)[0].content), /from-settings/);
  assert.equal(results(messages)[1].is_error, true, 'what is denied ran');
  assert.ok(inits(messages)[0].slash_commands.includes('greet') && inits(messages)[0].agents.includes('helper'), JSON.stringify(inits(messages)[0]).slice(0, 400));
  assert.ok((await askedWith('own-settings it is')).some(({ said }) => said.includes('The word of own-settings is swordfish.')), 'no memory');
  result(await collect(ask('/greet the-world', { cwd, settingSources: ['project'] })), 'Hello.');
  assert.ok((await askedWith('Greet the-world now')).length > 0, 'the command was not expanded');
  const without = await collect(ask('{{shell date}} {{say own-settings: without.}}', { cwd, allowedTools: ['Bash'] }));
  assert.ok(!results(without)[0].is_error, 'settings that nobody wanted');
  assert.ok(!(await askedWith('own-settings: without')).some(({ said }) => said.includes('swordfish')), 'memory that nobody wanted');
});

scenario('own', 'files_are_kept_to_the_folders_that_are_the_hosts', async () => {
  const cwd = folder('own-wall'), beside = folder('own-beside', { 'there.txt': 'it is there\n' });
  const read = `{{read ${path.join(beside, 'there.txt')}}} {{say Done.}}`;
  const within = await collect(ask(read, { cwd, additionalDirectories: [beside] }));
  assert.match(textOf(results(within)[0].content), /it is there/);
  const without = await collect(ask(read, { cwd }));
  assert.equal(results(without)[0].is_error, true, 'it was read all the same');
});

scenario('own', 'nothing_on_stderr_and_variables_of_the_hosts', async () => {
  let stderr = '';
  const options = { stderr: (text) => { stderr += text; }, env: { OWN_COLOUR: 'green', OWN_API_KEY: 'sk-not-to-be-seen' }, allowedTools: ['Bash'] };
  const messages = await collect(ask('{{shell echo "$OWN_COLOUR:$OWN_API_KEY:"}} {{say Done.}}', options));
  assert.match(textOf(results(messages)[0].content), /green::/);
  assert.equal(stderr, '');
});

scenario('own', 'files_are_wound_back', async () => {
  const file = inWorkspace('own-rewind');
  fs.writeFileSync(file, 'before\n');
  const host = prompts(`{{read ${file}}} {{write ${file} after}} {{say Done.}}`), session = ask(host, { enableFileCheckpointing: true, permissionMode: 'acceptEdits', extraArgs: { 'replay-user-messages': null } });
  let id, rewound;
  for await (const message of session) {
    if (message.type === 'user' && message.isReplay) id ??= message.uuid;
    if (message.type !== 'result') continue;
    assert.equal(fs.readFileSync(file, 'utf8').trim(), 'after');
    const tried = await session.rewindFiles(id, { dryRun: true });
    assert.deepEqual([tried.canRewind, tried.filesChanged], [true, [file]]);
    assert.equal(fs.readFileSync(file, 'utf8').trim(), 'after');
    rewound = await session.rewindFiles(id);
    break;
  }
  assert.equal(rewound.canRewind, true, JSON.stringify(rewound));
  assert.equal(fs.readFileSync(file, 'utf8'), 'before\n');
  session.close();
});

scenario('own', 'where_a_prompt_came_from_is_said_of_its_own_turn', async () => {
  const origin = { kind: 'channel', server: 'far' }, next = deferred(), end = deferred();
  async function* host() { yield { ...prompt('{{say One.}}'), origin }; await next.promise; yield prompt('{{say Two.}}'); await end.promise; }
  const all = [];
  for await (const message of ask(host())) {
    if (message.type !== 'result') continue;
    all.push(message);
    next.release();
    if (all.length === 2) { end.release(); break; }
  }
  assert.deepEqual(all.map((m) => m.origin), [origin, undefined]);
});

scenario('own', 'the_model_may_be_left_to_the_agent', async () => {
  const [first, second] = await turns(['{{say own-model one.}}', '{{say own-model two.}}'], { model: 'claude-sonnet-4-5' }, async (session) => session.setModel());
  result(first, 'own-model one.');
  result(second, 'own-model two.');
});

scenario('own', 'tools_that_are_not_wanted_are_not_there', async () => {
  const messages = await collect(ask('{{shell echo own-tools}} {{say Done.}}', { disallowedTools: ['Bash'], permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }));
  assert.ok(!inits(messages)[0].tools.includes('Bash'));
  assert.equal(results(messages)[0].is_error, true, 'it ran all the same');
  const few = await collect(ask('{{shell echo own-tools}} {{say Done.}}', { tools: ['Read'], allowedTools: ['Bash'] }));
  assert.deepEqual(inits(few)[0].tools, ['Read']);
  assert.equal(results(few)[0].is_error, true, 'it ran all the same');
});

scenario('own', 'servers_come_and_go', async () => {
  const begin = deferred(), next = deferred(), end = deferred(), texts = [], step = '{{call mcp__late__word {}}} {{say Done.}}';
  async function* host() { await begin.promise; yield prompt(step); await next.promise; yield prompt(step); await end.promise; }
  const session = ask(host(), { allowedTools: ['mcp__late__word'] });
  const set = await session.setMcpServers({ late: farServer('tardy') });
  assert.deepEqual(set.added, ['late'], JSON.stringify(set));
  begin.release();
  for await (const message of session) {
    texts.push(...results([message]));
    if (message.type !== 'result') continue;
    if (texts.length === 2) break;
    await session.toggleMcpServer('late', false);
    next.release();
  }
  end.release();
  assert.match(textOf(texts[0].content), /the word is tardy/);
  assert.equal(texts[1].is_error, true);
  session.close();
});
scenario('own', 'clear_begins_anew_and_compact_sums_up', async () => {
  const [first, cleared, after, compacted, last] = await turns(['{{say Before own-clear.}}', '/clear', '{{say After own-clear.}}', '/compact', '{{say The end of own-clear.}}']);
  assert.notEqual(result(after, 'After own-clear.').session_id, result(first).session_id);
  assert.equal(result(cleared).is_error, false);
  assert.ok(!(await askedWith('{{say After own-clear.}}'))[0].said.includes('Before own-clear.'), 'the history is still there');
  assert.ok(compacted.some((m) => m.type === 'system' && m.subtype === 'compact_boundary'), compacted.map((m) => `${m.type}/${m.subtype}`).join());
  result(last, 'The end of own-clear.');
});

