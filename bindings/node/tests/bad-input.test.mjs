// What strangers and programs do wrong: an error that says so, and never the end of the process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as agentglot from 'agentglot';
import { END, folder, GOOD, log } from './common.mjs';

const require = createRequire(import.meta.url);
const lib = (name) => join(require.resolve('agentglot'), '..', name);
const damaged = Buffer.concat([Buffer.from(`${GOOD}{"type":"assistant","text":"`), Buffer.from([0xff, 0xfe]), Buffer.from(`"}\n${END}`)]);
const options = { to: 'tricode', from: 'cursor' };

test('damage is told with its place, and everything else converted', async () => {
  const good = await agentglot.convert(Buffer.from(GOOD + END), options);
  await assert.rejects(agentglot.convert(damaged, options), (error) => {
    assert.ok(error instanceof agentglot.DamagedError && error instanceof agentglot.AgentglotError);
    assert.deepEqual([error.name, error.file, error.line, error.byte], ['DamagedError', '-', 2, 29]);
    assert.match(error.message, /UTF-8/);
    assert.deepEqual(error.output, good);
    return true;
  });
  assert.deepEqual(await agentglot.convert(damaged, { ...options, onDamage: 'ignore' }), good);
  const seen = [];
  await agentglot.convert(damaged, { ...options, onDamage: (damage) => seen.push(damage) });
  assert.deepEqual(seen.map(({ line, byte }) => [line, byte]), [[2, 29]]);
  const warned = new Promise((done) => process.once('warning', done));
  await agentglot.convert(damaged, { ...options, onDamage: 'warn' });
  assert.match((await warned).message, /^-:2:29: /);

  const given = [];
  const stream = new agentglot.ConvertStream(options);
  stream.on('data', (piece) => given.push(piece));
  await assert.rejects(pipeline([damaged], stream), agentglot.DamagedError);
  assert.ok(given.length > 0, 'what stands before it has been given');
});

test('events go on behind damage', async () => {
  const reading = agentglot.events(damaged, { from: 'cursor' });
  const found = [];
  let thrown = 0;
  for (;;) {
    try {
      const { done, value } = await reading.next();
      if (done) break;
      found.push(value.event);
    } catch (error) {
      assert.ok(error instanceof agentglot.DamagedError);
      thrown += 1;
    }
  }
  assert.deepEqual([found, thrown], [['reply', 'outcome'], 1]);
  await assert.rejects(agentglot.sessions(damaged, { from: 'cursor' }), agentglot.DamagedError);
  assert.equal((await agentglot.sessions(damaged, { from: 'cursor', onDamage: 'ignore' })).length, 1);
});

test('arguments that make no sense', async () => {
  await assert.rejects(agentglot.convert(log, { to: 'cursorr' }), { name: 'UsageError', message: /did you mean/ });
  await assert.rejects(agentglot.convert(log, { to: 'cursor', onDamage: 'shout' }), agentglot.UsageError);
  await assert.rejects(agentglot.convert(log, { to: 'cursor', colour: 'red' }), TypeError);
  await assert.rejects(agentglot.convert(log), TypeError);
  await assert.rejects(agentglot.stats([]), agentglot.UsageError);
  await assert.rejects(new agentglot.Converter({ to: 'cursorr' }).feed(Buffer.from(GOOD)), agentglot.UsageError);
  await assert.rejects(agentglot.convert(['text'], { to: 'cursor' }), { name: 'TypeError', message: /bytes/ });
  for (const src of [17, null, undefined, [1, 2], {}]) {
    await assert.rejects(agentglot.convert(src, { to: 'cursor' }), TypeError);
    await assert.rejects(async () => agentglot.events(src).next(), TypeError);
  }
});

test('messages name the options', async () => {
  const what = Buffer.from('{"what":"is this"}\n'.repeat(300));
  const calls = [
    [() => agentglot.convert(what, { to: 'cursor' }), /name it with from /],
    [() => agentglot.events(what).next(), /name it with from /],
    [() => agentglot.convert(log, { to: 'cursor', tools: 'own' }), /'tools'/],
    [() => agentglot.convert(log, { to: 'cursor', maxLine: 'much' }), /'maxLine'/],
    [() => agentglot.check(log, { level: 'bad' }), /'level'/],
    [() => agentglot.check(log, { from: 'nobody' }), /from: unknown dialect/],
    [() => agentglot.stats(log, { by: 'moon' }), /'by'/],
    [() => agentglot.convert(log, { to: 'cursor', prompts: Array(9).fill('one') }), /given with prompts/],
  ];
  for (const [call, name] of calls) {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof agentglot.AgentglotError);
      assert.match(error.message, name);
      assert.doesNotMatch(error.message, /--/);
      return true;
    });
  }
});

test('no function has an option that there is not', async () => {
  const calls = [
    () => agentglot.convert(log, { to: 'cursor', prompts: 'one' }),
    () => agentglot.convertFiles([log], { to: 'cursor', output: folder(), include: '*.jsonl' }),
    async () => new agentglot.ConvertStream({ to: 'cursor', prompt: ['one'] }),
    async () => agentglot.events(log, { form: 'claude' }),
    () => agentglot.sessions(log, { form: 'claude' }),
    () => agentglot.check(log, { form: 'claude' }),
    () => agentglot.stats(log, { By: 'model' }),
  ];
  for (const call of calls) await assert.rejects(call(), TypeError);
});

test('a single path is one path', async () => {
  for (const path of [log, pathToFileURL(log)]) {
    const done = await agentglot.convertFiles(path, { to: 'cursor', output: folder() });
    assert.deepEqual(done.map((each) => [each.log, each.error]), [[log, null]]);
  }
});

test('a file that ends too soon is told whatever becomes of damage', async () => {
  const cut = join(folder(), 'log.jsonl.gz');
  writeFileSync(cut, gzipSync(readFileSync(log)).subarray(0, -20));
  await assert.rejects(agentglot.convert(cut, { to: 'cursor' }), agentglot.DamagedError);
  const calls = [
    () => agentglot.convert(cut, { to: 'cursor', onDamage: 'ignore' }),
    () => agentglot.convertFile(cut, join(folder(), 'out.jsonl'), { to: 'cursor', onDamage: 'ignore' }),
    () => agentglot.check(cut),
    () => agentglot.stats(cut),
    () => agentglot.stats([log, cut]),
  ];
  for (const call of calls) await assert.rejects(call(), /cannot be read/);
});

test('calls of next that do not wait for each other', async () => {
  const wanted = [];
  for await (const event of agentglot.events(log)) wanted.push(event);
  const reading = agentglot.events(log);
  const found = await Promise.all(wanted.map(() => reading.next()));
  assert.deepEqual(found.map(({ value }) => value), wanted);
  assert.deepEqual(await Promise.all([reading.next(), reading.next()]), Array(2).fill({ done: true, value: undefined }));
});

test('files that are not there, and folders', async () => {
  const none = join(folder(), 'none');
  const calls = [
    (path) => agentglot.convert(path, { to: 'cursor' }),
    (path) => agentglot.events(path).next(),
    agentglot.detect,
    agentglot.check,
    agentglot.stats,
    agentglot.sessions,
    (path) => agentglot.convertFile(path, 'out', { to: 'cursor' }),
  ];
  for (const call of calls) await assert.rejects(call(none), { code: 'ENOENT', path: none });
  const place = folder();
  await assert.rejects(agentglot.detect(place), /directory/);
  const whole = [() => agentglot.convert(place, { to: 'cursor' }), () => agentglot.convertFile(place, join(folder(), 'out'), { to: 'cursor' })];
  for (const call of whole) await assert.rejects(call(), { code: 'EISDIR', path: place });
});

test('a log of nobody knows what', async () => {
  const what = Buffer.from('{"what":"is this"}\n'.repeat(300));
  const calls = [agentglot.detect, agentglot.sessions, agentglot.check, (src) => agentglot.convert(src, { to: 'cursor' }), (src) => agentglot.events(src).next()];
  for (const call of calls) await assert.rejects(call(what), agentglot.UnclearError);
});

test('a generator that throws in the middle', async () => {
  async function* half() {
    yield Buffer.from(GOOD);
    throw new RangeError('in the middle');
  }
  const calls = [
    () => agentglot.convert(half(), options),
    () => agentglot.sessions(half(), { from: 'cursor' }),
    () => pipeline(half(), new agentglot.ConvertStream(options), async (made) => made.resume()),
  ];
  for (const call of calls) await assert.rejects(call(), { name: 'RangeError', message: 'in the middle' });
  const reading = agentglot.events(half(), { from: 'cursor' });
  assert.equal((await reading.next()).value.event, 'reply');
  await assert.rejects(reading.next(), RangeError);
  assert.deepEqual(await reading.next(), { done: true, value: undefined }, 'what threw is over: no outcome is made up for it');
});

test('a panic is an error', async () => {
  const { checked } = require(lib('errors.js'));
  const native = require(join(require(lib('native.js')).folder(), 'agentglot.node'));
  const answer = await native.panic('on purpose');
  assert.throws(() => checked(answer), { name: 'InternalError', message: /on purpose/ });
  assert.ok((await agentglot.convert(Buffer.from(END), options)).length > 0, 'and everything goes on');
});

const long = () => {
  const path = join(folder(), 'log.jsonl');
  writeFileSync(path, (GOOD.repeat(20) + END).repeat(20000));
  return path;
};

test('the event loop is free while Rust works', async () => {
  let steps = 0;
  const timer = setInterval(() => (steps += 1), 1);
  await agentglot.convert(long(), { to: 'claude', from: 'cursor' });
  clearInterval(timer);
  assert.ok(steps > 3, `${steps}`);
});

test('a process that ends while conversions run', () => {
  const program = `
    const agentglot = require(${JSON.stringify(require.resolve('agentglot'))});
    const log = ${JSON.stringify(long())};
    agentglot.convert(log, { to: 'claude', from: 'cursor' });
    (async () => { for (;;) for await (const _ of agentglot.events(log, { from: 'cursor' }).batches()); })();
    agentglot.sessions(log, { from: 'cursor' });
    setTimeout(() => process.exit(7), 100);
  `;
  for (let n = 0; n < 3; n += 1) {
    const { status, signal, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 60_000 });
    assert.deepEqual([status, signal, stderr], [7, null, '']);
  }
});

test('threads of their own', async () => {
  const program = `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    const agentglot = require(${JSON.stringify(require.resolve('agentglot'))});
    const convert = () => agentglot.convert(${JSON.stringify(log)}, { to: 'cursor' });
    if (isMainThread) {
      const worker = new Worker(__filename);
      worker.on('exit', async (code) => {
        console.log(code, (await convert()).length > 0);
      });
    } else convert().then(() => process.exit(5));
  `;
  const file = join(folder(), 'threads.cjs');
  writeFileSync(file, program);
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 60_000 });
  assert.equal(stdout, '5 true\n', stderr);
});
