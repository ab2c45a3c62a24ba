// qwen_sdk.mjs replay|agent: the Qwen Code SDK, as it is, in front of us as `qwen`.
import { createSdkMcpServer, query, tool } from '@qwen-code/sdk';
import fs from 'node:fs';
import { z } from 'zod3';
import { askedOfModel, assert, backend, blocks, cli, collect, deltas, farServer, golden, inWorkspace, inits, main, prompts, promisedByAll, result, results, said, scenario, textOf, turnsOf, uses, workspace } from './scenarios.mjs';

const ask = (prompt, options = {}, answers = backend) =>
  query({ prompt, options: { pathToQwenExecutable: cli, cwd: workspace, env: { AGENTGLOT_BACKEND: answers }, authType: 'openai', permissionMode: 'default', ...options } });
const log = (path) => `replay:${golden}/${path}.jsonl`;

/** The messages of each turn. */
const turns = (texts, options = {}, between = undefined, answers = backend) =>
  turnsOf((host, options) => ask(host, options, answers), texts, options, between, (session) => session.close());

scenario('replay', 'recorded_answers_come_as_they_were', async () => {
  const recorded = (path) => JSON.parse(fs.readFileSync(`${golden}/${path}.jsonl`, 'utf8').trim().split('\n').at(-1)).result;
  for (const path of ['qwen-code/read_file_partial.out', 'qwen-code/unicode_clean.out', 'claude/cli_parallel_partial.out', 'claude/cli_think.out']) {
    const messages = await collect(ask('hello', {}, log(path)));
    result(messages, recorded(path));
    assert.ok(inits(messages)[0].qwen_code_version, path);
    assert.deepEqual(results(messages).map((r) => r.tool_use_id).sort(), uses(messages).map((u) => u.id).sort(), path);
    assert.equal(deltas(messages).length, 0, 'deltas without being asked for');
  }
});

scenario('replay', 'recorded_deltas_make_the_recorded_text', async () => {
  for (const path of ['qwen-code/plain_text_partial.out', 'claude/cli_think_partial.out', 'claude/cli_plain.out', 'cursor/partial_shell']) {
    const messages = await collect(ask('hello', { includePartialMessages: true }, log(path)));
    assert.ok(said(messages), path);
    assert.equal(deltas(messages).filter((d) => d.type === 'text_delta').map((d) => d.text).join(''), said(messages), path);
  }
});

scenario('replay', 'recorded_questions_are_asked_again', async () => {
  for (const path of ['qwen-code/sdk_can_use_tool_allow.out', 'claude/sdk_can_use_tool_allow.out']) {
    const asked = [];
    const canUseTool = async (name, input, { suggestions }) => { asked.push([name, suggestions.some((s) => s.type === 'allow')]); return { behavior: 'allow', updatedInput: input }; };
    const messages = await collect(ask('go', { canUseTool }, log(path)));
    assert.deepEqual(asked, [['write_file', true]], path);
    assert.equal(result(messages).is_error, false, path);
  }
});

scenario('replay', 'recorded_turns_follow_each_other', async () => {
  const all = await turns(['a', 'b'], { model: 'first-model' }, (session) => session.setModel('second-model'), log('qwen-code/sdk_set_model.out'));
  all.forEach((messages) => assert.equal(result(messages).is_error, false));
  assert.equal(all.flatMap(inits).length, 2, 'an init a turn');
});

scenario('replay', 'recorded_failures_are_failures', async () => {
  for (const path of ['qwen-code/api_401.out', 'claude/cli_e401.out']) {
    const messages = [];
    try { for await (const message of ask('go', {}, log(path))) messages.push(message); } catch { /* after the result */ }
    assert.deepEqual([result(messages).is_error, result(messages).subtype], [true, 'error_during_execution'], path);
    assert.ok(result(messages).error.message, path);
  }
});

scenario('replay', 'the_demo_asks_for_leave', async () => {
  const messages = await collect(ask('Show me.', { canUseTool: async () => ({ behavior: 'deny', message: 'no' }) }));
  assert.equal(results(messages)[0].is_error, true);
  result(messages, 'Nothing was written.');
});

scenario('agent', 'a_text_and_its_deltas', async () => {
  const messages = await collect(ask('{{think Four, I think. | say It is 4. ✓ 👩‍👩‍👧}}', { includePartialMessages: true }));
  result(messages, 'It is 4. ✓ 👩‍👩‍👧');
  assert.equal(deltas(messages).filter((d) => d.type === 'text_delta').map((d) => d.text).join(''), 'It is 4. ✓ 👩‍👩‍👧');
  assert.equal(blocks(messages, 'assistant', 'thinking').map((b) => b.thinking).join(''), 'Four, I think.');
});

scenario('agent', 'everything_may_run', async () => {
  fs.writeFileSync(inWorkspace('here.txt'), 'it is here\n');
  const messages = await collect(ask(`{{read ${inWorkspace('here.txt')}}} {{write ${inWorkspace('yolo')} original}} {{say Done.}}`, { permissionMode: 'yolo' }));
  assert.deepEqual(uses(messages).map((u) => u.name), ['read_file', 'write_file']);
  assert.match(textOf(results(messages)[0].content), /it is here/);
  assert.equal(fs.readFileSync(inWorkspace('yolo'), 'utf8').trim(), 'original');
  assert.equal(inits(messages)[0].permission_mode, 'yolo');
  result(messages, 'Done.');
});

const write = (name) => `{{write ${inWorkspace(name)} original}} {{say Done.}}`;

scenario('agent', 'leave_is_asked_and_given', async () => {
  const asked = [];
  const canUseTool = async (name, input, { suggestions }) => { asked.push([name, input.content, suggestions.map((s) => s.type)]); return { behavior: 'allow', updatedInput: input }; };
  const messages = await collect(ask(write('given'), { canUseTool }));
  assert.deepEqual(asked.map(([name, content, kinds]) => [name, content, kinds.slice(0, 2)]), [['write_file', 'original', ['allow', 'deny']]]);
  assert.equal(fs.readFileSync(inWorkspace('given'), 'utf8').trim(), 'original');
  result(messages, 'Done.');
});

scenario('agent', 'leave_is_asked_and_given_for_other_arguments', async () => {
  const canUseTool = async (name, input) => ({ behavior: 'allow', updatedInput: { ...input, content: 'changed' } });
  result(await collect(ask(write('changed'), { canUseTool })), 'Done.');
  assert.equal(fs.readFileSync(inWorkspace('changed'), 'utf8').trim(), 'changed');
});

scenario('agent', 'leave_is_asked_and_refused', async () => {
  const messages = await collect(ask(write('refused'), { canUseTool: async () => ({ behavior: 'deny', message: 'never ever' }) }));
  assert.ok(!fs.existsSync(inWorkspace('refused')), 'it was written all the same');
  assert.equal(results(messages)[0].is_error, true);
  assert.match(textOf(results(messages)[0].content), /never ever/);
  result(messages, 'Done.');
});

scenario('agent', 'a_tool_of_the_hosts_own', async () => {
  const heard = [];
  const twice = tool('twice', 'doubles a number', { n: z.number() }, async ({ n }) => { heard.push(n); return { content: [{ type: 'text', text: `twice is ${n * 2}` }] }; });
  const mcpServers = { maths: createSdkMcpServer({ name: 'maths', version: '1.0.0', tools: [twice] }) };
  const messages = await collect(ask('{{call mcp__maths__twice {"n": 21}}} {{say Forty-two.}}', { mcpServers, permissionMode: 'yolo' }));
  assert.deepEqual(heard, [21]);
  assert.match(textOf(results(messages)[0].content), /42/);
  assert.ok(inits(messages)[0].mcp_servers.some((s) => s.name === 'maths' && s.status === 'connected'));
  result(messages, 'Forty-two.');
});

scenario('agent', 'a_server_that_is_a_program_of_its_own', async () => {
  const asked = [], canUseTool = async (name, input) => { asked.push(name); return { behavior: 'allow', updatedInput: input }; };
  const options = { mcpServers: { far: farServer('swordfish') }, canUseTool, permissionMode: undefined };
  const messages = await collect(ask('{{call mcp__far__word {}}} {{say Done.}}', options));
  assert.match(textOf(results(messages)[0].content), /the word is swordfish/);
  assert.deepEqual(asked, ['mcp__far__word']);
  result(messages, 'Done.');
});

scenario('agent', 'model_and_permission_mode_change', async () => {
  let asked = 0;
  const canUseTool = async () => { asked += 1; return { behavior: 'deny', message: 'no' }; };
  const all = await turns([write('mode'), write('mode')], { canUseTool, model: 'first-model' }, async (session) => {
    await session.setModel('second-model');
    await session.setPermissionMode('yolo');
    await assert.rejects(session.setPermissionMode('bypassPermissions'), /permission mode/i);
  });
  assert.equal(asked, 1);
  assert.deepEqual(all.flatMap(inits).map((m) => [m.model, m.permission_mode]), [['first-model', 'default'], ['second-model', 'yolo']]);
  assert.equal(fs.readFileSync(inWorkspace('mode'), 'utf8').trim(), 'original');
  const models = new Set((await askedOfModel()).map((entry) => entry.model));
  assert.ok(models.has('first-model') && models.has('second-model'), [...models].join());
});

scenario('agent', 'turns_follow_each_other', async () => {
  const [first, second] = await turns(['{{say The first answer.}}', '{{say The second answer.}}']);
  assert.equal(result(first, 'The first answer.').session_id, result(second, 'The second answer.').session_id);
  assert.ok((await askedOfModel()).some(({ said }) => said.includes('The first answer.') && said.includes('The second answer.')), 'no history');
});

scenario('agent', 'a_turn_after_an_error_of_the_model', async () => {
  const [failed, after] = await turns(['{{fail 400 the scripted failure}}', '{{say All is well.}}']);
  assert.deepEqual([result(failed).is_error, result(failed).subtype], [true, 'error_during_execution']);
  assert.match(result(failed).error.message, /the scripted failure/);
  result(after, 'All is well.');
});

scenario('agent', 'what_there_is_is_told', async () => {
  const host = prompts('{{say Here.}}'), session = ask(host), got = {};
  for await (const message of session) {
    if (message.type !== 'result') continue;
    [got.commands, got.servers, got.context] = [await session.supportedCommands(), await session.mcpServerStatus(), await session.getContextUsage()];
    break;
  }
  await session.close();
  assert.ok(got.commands.commands.length > 0 && typeof got.servers.status === 'object' && 'totalTokens' in got.context, JSON.stringify(got));
});

promisedByAll(ask, (stopped) => assert.equal(stopped.is_error, true));

await main();
