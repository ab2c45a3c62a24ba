// claude_sdk.mjs demo|agent|agent+own: the Claude Agent SDK for TypeScript, as it is, in front of us as `claude`.
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import fs from 'node:fs';
import { z } from 'zod';
import { ask, turns } from './claude_host.mjs';
import './claude_own.mjs';
import { askedOfModel, assert, blocks, collect, deltas, farServer, inWorkspace, inits, main, prompts, promisedByAll, result, results, said, scenario, textOf, uses } from './scenarios.mjs';

scenario('demo', 'the_demo_asks_for_leave_and_goes_on', async () => {
  const asked = [];
  const canUseTool = async (name, input, { toolUseID }) => { asked.push([name, input.content, toolUseID]); return { behavior: 'allow', updatedInput: input }; };
  const [first, second, third] = await turns(['Show me.', 'A subagent?', 'An error?'], { canUseTool, includePartialMessages: true });
  assert.deepEqual(asked, [['Write', 'Hello.\n', uses(first)[0].id]]);
  assert.ok(!results(first)[0].is_error);
  assert.equal(deltas(first).map((d) => d.text ?? '').join(''), said(first));
  assert.ok(second.some((m) => m.type === 'assistant' && m.parent_tool_use_id), 'the subagent does not show');
  assert.equal(result(third).is_error, true);
  assert.equal(new Set([first, second, third].map((messages) => result(messages).session_id)).size, 1);
});

scenario('demo', 'the_demo_takes_no', async () => {
  const canUseTool = async () => ({ behavior: 'deny', message: 'never ever' });
  const [messages] = await turns(['Show me.'], { canUseTool });
  assert.equal(results(messages)[0].is_error, true);
  result(messages, 'Nothing was written.');
});

scenario('demo agent', 'what_there_is_is_told', async () => {
  const host = prompts('{{say Here.}}'), session = ask(host);
  assert.ok(Array.isArray(await session.supportedCommands()));
  assert.ok((await session.supportedModels()).length > 0);
  assert.equal(typeof (await session.accountInfo()), 'object');
  assert.ok(Array.isArray(await session.mcpServerStatus()));
  session.close();
});

scenario('agent', 'a_text', async () => {
  const messages = await collect(ask('{{think Four, I think. | say It is 4. ✓}}'));
  result(messages, 'It is 4. ✓');
  assert.equal(said(messages), 'It is 4. ✓');
  assert.equal(blocks(messages, 'assistant', 'thinking').map((b) => b.thinking).join(''), 'Four, I think.');
});

scenario('agent', 'partial_messages', async () => {
  const messages = await collect(ask('{{think Four, I think. | say It is 4, of course.}}', { includePartialMessages: true }));
  assert.equal(deltas(messages).map((d) => d.text ?? '').join(''), 'It is 4, of course.');
  assert.equal(deltas(messages).map((d) => d.thinking ?? '').join(''), 'Four, I think.');
});

const write = (name) => `{{write ${inWorkspace(name)} original}} {{say Done.}}`;

scenario('agent', 'leave_is_asked_and_given_for_other_arguments', async () => {
  const asked = [];
  const canUseTool = async (name, input) => { asked.push([name, input.content]); return { behavior: 'allow', updatedInput: { ...input, content: 'changed' } }; };
  const [messages] = await turns([write('ts-changed')], { canUseTool });
  assert.deepEqual(asked, [['Write', 'original']]);
  assert.equal(fs.readFileSync(inWorkspace('ts-changed'), 'utf8').trim(), 'changed');
  result(messages, 'Done.');
});

scenario('agent', 'leave_is_asked_and_refused', async () => {
  const [messages] = await turns([write('ts-refused')], { canUseTool: async () => ({ behavior: 'deny', message: 'never ever' }) });
  assert.ok(!fs.existsSync(inWorkspace('ts-refused')), 'it was written all the same');
  assert.equal(results(messages)[0].is_error, true);
  assert.match(textOf(results(messages)[0].content), /never ever/);
  result(messages, 'Done.');
});

scenario('agent', 'hooks_are_called', async () => {
  const heard = [];
  const hook = async (told) => { heard.push([told.hook_event_name, told.tool_name]); return {}; };
  const hooks = Object.fromEntries(['PreToolUse', 'PostToolUse', 'Stop'].map((event) => [event, [{ hooks: [hook] }]]));
  const [messages] = await turns(['{{shell echo hooked}} {{say Done.}}'], { hooks, allowedTools: ['Bash'] });
  assert.deepEqual(heard, [['PreToolUse', 'Bash'], ['PostToolUse', 'Bash'], ['Stop', undefined]]);
  result(messages, 'Done.');
});

scenario('agent', 'a_tool_of_the_hosts_own', async () => {
  const heard = [];
  const twice = tool('twice', 'Doubles a number', { n: z.number() }, async ({ n }) => { heard.push(n); return { content: [{ type: 'text', text: `twice is ${n * 2}` }] }; });
  const mcpServers = { maths: createSdkMcpServer({ name: 'maths', version: '1.0.0', tools: [twice] }) };
  const [messages] = await turns(['{{call mcp__maths__twice {"n": 21}}} {{say Forty-two.}}'], { mcpServers, allowedTools: ['mcp__maths__twice'] });
  assert.deepEqual(heard, [21]);
  assert.match(textOf(results(messages)[0].content), /42/);
  result(messages, 'Forty-two.');
});

scenario('agent', 'a_server_that_is_a_program_of_its_own', async () => {
  const options = { mcpServers: { far: farServer('swordfish') }, allowedTools: ['mcp__far__word'] };
  const [messages] = await turns(['{{call mcp__far__word {}}} {{say Done.}}'], options);
  assert.match(textOf(results(messages)[0].content), /the word is swordfish/);
  result(messages, 'Done.');
});

scenario('agent', 'a_system_prompt_reaches_the_model', async () => {
  const [messages] = await turns(['{{say Aye.}}'], { systemPrompt: 'You are the pirate of ts-prompt.' });
  result(messages, 'Aye.');
  assert.ok((await askedOfModel()).some(({ said }) => said.includes('the pirate of ts-prompt')), 'the model was told nothing of it');
});

scenario('agent', 'model_and_permission_mode_change', async () => {
  let asked = 0;
  const canUseTool = async () => { asked += 1; return { behavior: 'deny', message: 'no' }; };
  const [first, second] = await turns([write('ts-mode'), write('ts-mode')], { canUseTool, model: 'claude-sonnet-4-5' }, async (session) => {
    await session.setModel('claude-haiku-4-5');
    await session.setPermissionMode('acceptEdits');
  });
  assert.equal(asked, 1);
  assert.deepEqual([...inits(first), ...inits(second)].map((m) => m.permissionMode), ['default', 'acceptEdits']);
  assert.equal(fs.readFileSync(inWorkspace('ts-mode'), 'utf8').trim(), 'original');
  const models = (await askedOfModel()).filter((entry) => entry.said.includes('ts-mode')).map((entry) => entry.model);
  assert.deepEqual([...new Set(models)].filter((model) => /sonnet|haiku/.test(model)).sort(), ['claude-haiku-4-5', 'claude-sonnet-4-5']);
});

scenario('agent', 'an_error_of_the_model_is_one', async () => {
  const [failed, after] = await turns(['{{fail 400 the scripted failure}}', '{{say All is well.}}']);
  assert.equal(result(failed).is_error, true);
  assert.match(result(failed).result, /the scripted failure/);
  assert.equal(result(failed).api_error_status, 400);
  result(after, 'All is well.');
});

promisedByAll(ask, (stopped) => assert.equal(stopped.subtype, 'error_during_execution'));

await main();
