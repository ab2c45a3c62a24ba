// What the API gives is what the command gives.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as agentglot from 'agentglot';
import { END, folder, GOOD, log, root } from './common.mjs';

const command = createRequire(import.meta.url).resolve('agentglot').replace(/index\.js$/, 'command.js');
const run = (...args) => execFileSync(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
const all = async (made) => {
  const kept = [];
  for await (const each of made) kept.push(each);
  return kept;
};

test('a log is converted as the command does, in whatever shape it is given', async () => {
  const expected = run('convert', '--to', 'cursor', log);
  assert.ok(expected.length > 100);
  const bytes = readFileSync(log);
  const cut = [bytes.subarray(0, 1000), bytes.subarray(1000, 1001), bytes.subarray(1001)];
  const shapes = [log, pathToFileURL(log), bytes, new Uint8Array(bytes), cut, Readable.from(cut), createReadStream(log)];
  for (const src of shapes) assert.deepEqual(await agentglot.convert(src, { to: 'cursor' }), expected);
  for (const src of [log, bytes, cut, createReadStream(log)]) {
    assert.deepEqual(Buffer.concat(await all(agentglot.convertStream(src, { to: 'cursor' }))), expected);
  }
  assert.equal(await text(createReadStream(log).pipe(new agentglot.ConvertStream({ to: 'cursor' }))), expected.toString());

  const converter = new agentglot.Converter({ to: 'cursor', ledger: true });
  const made = cut.map((piece) => converter.feed(piece));
  made.push(converter.finish());
  assert.deepEqual(Buffer.concat(await Promise.all(made)), expected);
  assert.match(converter.format, /^claude/);
  assert.ok(converter.lines > 10);
  assert.ok(converter.takeLedger().every((entry) => entry.line > 0));
  assert.equal((await converter.finish()).length, 0);
  await assert.rejects(converter.feed(bytes), agentglot.UsageError);
});

test('options are those of the command', async () => {
  const expected = run('convert', '--to', 'cursor', '--from', 'claude', '--tools', 'verbatim', log);
  assert.deepEqual(await agentglot.convert(log, { to: 'cursor', from: 'claude', tools: 'verbatim', strict: false, jobs: 1 }), expected);
  assert.notDeepEqual(await agentglot.convert(log, { to: 'cursor' }), expected);
});

test('files are converted into files', async () => {
  const place = folder();
  writeFileSync(join(place, 'a.jsonl.gz'), gzipSync(readFileSync(log)));
  const done = await agentglot.convertFile(join(place, 'a.jsonl.gz'), join(place, 'out.jsonl'), { to: 'cursor' });
  assert.match(done.from, /^claude/);
  assert.equal(done.error, null);
  const expected = await agentglot.convert(log, { to: 'cursor' });
  assert.deepEqual(readFileSync(join(place, 'out.jsonl')), expected);
  const [one] = await agentglot.convertFiles([log], { to: 'cursor', output: join(place, 'many'), ledger: join(place, 'ledger.jsonl') });
  assert.deepEqual(readFileSync(one.output), expected);
  assert.ok(readFileSync(join(place, 'ledger.jsonl')).length > 0);
  assert.deepEqual(await agentglot.convertFiles([], { to: 'cursor', output: place }), []);
});

test('events are the lines of agentglot:events', async () => {
  const lines = run('convert', '--to', 'agentglot', log).toString().split('\n').filter(Boolean);
  const expected = lines.map((line) => JSON.parse(line)).filter((line) => !line.agentglot);
  // The command keeps how the log spells numbers; events have no need of that.
  const plain = (events) => events.map((event) => [event.event ?? event.input, event.id, event.session, event.text, event.call]);
  const found = await all(agentglot.events(log));
  assert.ok(found.length > 50);
  assert.deepEqual(plain(found), plain(expected));
  assert.deepEqual(await all(agentglot.events(readFileSync(log))), found);
  assert.deepEqual(await all(agentglot.events(createReadStream(log, { highWaterMark: 777 }))), found);
  assert.deepEqual((await all(agentglot.events(log).batches())).flat(), found);
  // A log of events is itself one, and what it holds beside events is passed over.
  const copied = [...lines, 'no JSON', '[1]', ''].join('\n');
  const again = await all(agentglot.events(Buffer.from(copied), { onDamage: 'ignore' }));
  assert.deepEqual(plain(again), plain(found));
});

test('reading may stop in the middle', async () => {
  const reading = agentglot.events(log);
  for await (const event of reading) {
    assert.ok(event.event);
    break;
  }
  assert.deepEqual(await reading.next(), { done: true, value: undefined });
  let closed = false;
  const endless = (async function* () {
    try {
      for (;;) yield Buffer.from(GOOD);
    } finally {
      closed = true;
    }
  })();
  for await (const _ of agentglot.events(endless, { from: 'cursor' })) break;
  assert.ok(closed, 'and the one who gave the log is told');
});

test('an event comes as soon as its line is there', async () => {
  let give;
  const live = new Readable({ read() {} });
  const reading = agentglot.events(live, { from: 'cursor' });
  live.push(GOOD);
  const first = await reading.next();
  assert.equal(first.value.event, 'reply');
  give = reading.next();
  live.push(END);
  live.push(null);
  assert.equal((await give).value.event, 'outcome');
  assert.equal(reading.format, 'cursor');
});

test('sessions have put them together', async () => {
  const sessions = await agentglot.sessions(log);
  assert.equal(sessions.length, 1);
  const [{ turns, facts }] = sessions;
  assert.ok(facts.model);
  assert.ok(turns[0].calls.length > 1);
  assert.ok(turns[0].calls.every((call) => call.result.status === 'success'));
  assert.ok(turns.at(-1).text);
  const expected = await all(agentglot.turns(readFileSync(log)));
  assert.deepEqual(expected, turns);
});

test('logs are told apart, checked and counted', async () => {
  assert.match((await agentglot.detect(log)).format, /^claude/);
  assert.equal(await agentglot.detect(Buffer.alloc(0)), undefined);
  const findings = await agentglot.check(Buffer.from(`${GOOD}${GOOD}no JSON\n`), { from: 'cursor', level: 'note' });
  assert.ok(findings.some((finding) => finding.line === 3));
  const edit = join(root, 'golden/claude/cli_edit.out.jsonl');
  const counted = await agentglot.stats([log, edit], { by: 'model', utc: true });
  assert.deepEqual(counted, JSON.parse(run('stats', '--json', '--by', 'model', '--utc', log, edit).toString()));
  assert.ok(counted.total.output > 0);
  assert.ok(agentglot.formats().includes('claude'));
  assert.notDeepEqual(agentglot.formats({ written: true }), agentglot.formats());
});

test('CommonJS has the same', () => {
  const required = createRequire(import.meta.url)('agentglot');
  assert.deepEqual(Object.keys(required).sort(), Object.keys(agentglot).filter((name) => name !== 'default').sort());
  assert.equal(required.Converter, agentglot.Converter);
});
