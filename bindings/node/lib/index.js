'use strict';

const { stat } = require('node:fs/promises');
const { join, sep } = require('node:path');
const { Transform } = require('node:stream');
const { isMainThread } = require('node:worker_threads');
const { version } = require('../package.json');
const { AgentglotError, DamagedError, InternalError, Told, UnclearError, UsageError, checked } = require('./errors.js');
const { folder } = require('./native.js');
const { conversion, only, words } = require('./options.js');
const { aFile, bytes, path, toldApart, whole } = require('./source.js');

const native = require(join(folder(), 'agentglot.node'));

// The end of the process waits for threads that are at work; they give up.
if (isMainThread) process.on('exit', native.close);

const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** Why a log was not converted. */
function failed({ log, from, error }) {
  if (!from && error.includes('dialect')) return new UnclearError(error, { file: log });
  if (error.includes(': cannot be ')) return new Error(error);
  return new AgentglotError(error, { file: log });
}

const damageOf = (log) => log.damage.map((damage) => ({ file: log.log, ...damage }));

async function convert(src, { to, onDamage, ...options } = {}) {
  const told = new Told(onDamage);
  const args = conversion(to, options);
  const log = await whole(src);
  if (log.path !== undefined) {
    await aFile(log.path);
    args.push('--', log.path);
  }
  const { bytes, text } = checked(await native.convert(args, log.name, log.memory));
  const [done] = JSON.parse(text).logs;
  // Damage has the output of everything else, and goes before what ended the reading.
  told.tell(damageOf(done), bytes);
  if (done.error) throw failed(done);
  return bytes;
}

async function convertFiles(paths, { to, output, ...options } = {}) {
  if (typeof output !== 'string' && !(output instanceof URL)) throw new TypeError('output names a folder');
  // A text can be gone through too: each of its letters would be a path.
  const logs = typeof paths === 'string' || paths instanceof URL ? [paths] : [...paths];
  return converted(logs, to, join(path(output), sep), options);
}

async function converted(paths, to, output, options) {
  const args = [...conversion(to, options), ...words({ output }), '--', ...paths.map(path)];
  if (paths.length === 0) return [];
  const { text } = checked(await native.convert(args, '', undefined));
  return JSON.parse(text).logs.map((log) => ({ ...log, damage: damageOf(log) }));
}

async function convertFile(from, output, { to, onDamage, ...options } = {}) {
  const told = new Told(onDamage);
  await aFile(from);
  const [done] = await converted([from], to, path(output), options);
  told.tell(done.damage);
  if (done.error) throw failed(done);
  return done;
}

class Converter {
  #native = new native.Feeder();
  #told;
  #last;
  #over = false;

  constructor({ to, onDamage, name = '-', ledger = false, ...options } = {}) {
    this.#told = new Told(onDamage);
    const args = conversion(to, options);
    this.#last = this.#native.open(args, name, false, Boolean(ledger)).then(checked);
    // Whoever waits for a piece is told.
    this.#last.catch(() => {});
  }

  /** One call after the other, in the order in which they were made. */
  #next(call) {
    const made = this.#last.then(call).then(checked);
    this.#last = made;
    made.catch(() => {});
    return made.then(({ bytes, damage }) => {
      if (damage) this.#told.tell(JSON.parse(damage), bytes);
      return bytes;
    });
  }

  async feed(piece) {
    if (this.#over) throw new UsageError('the conversion is over');
    // Whoever gave it may write into it while others are being converted.
    const copy = Buffer.from(bytes(piece));
    return this.#next(() => this.#native.feed(copy));
  }

  async finish() {
    if (this.#over) return Buffer.alloc(0);
    this.#over = true;
    return this.#next(() => this.#native.finish());
  }

  takeLedger() {
    return lines(this.#native.takeLedger());
  }

  get format() {
    return this.#native.format ?? undefined;
  }

  get lines() {
    return this.#native.lines ?? 0;
  }
}

class ConvertStream extends Transform {
  #converter;

  constructor({ highWaterMark, readableHighWaterMark, writableHighWaterMark, signal, ...options } = {}) {
    const converter = new Converter(options);
    super({ highWaterMark, readableHighWaterMark, writableHighWaterMark, signal });
    this.#converter = converter;
  }

  #give(made, done) {
    made.then(
      (piece) => done(null, piece.length > 0 ? piece : undefined),
      (error) => {
        // What came of everything else goes out before the error.
        if (error instanceof DamagedError && error.output?.length > 0) this.push(error.output);
        done(error);
      },
    );
  }

  _transform(piece, _encoding, done) {
    this.#give(this.#converter.feed(piece), done);
  }

  _flush(done) {
    this.#give(this.#converter.finish(), done);
  }

  get format() {
    return this.#converter.format;
  }
}

/** What an opened feeder makes of a log, answer by answer. */
async function* answers(log, feeder, args, events) {
  try {
    const reads = log.pieces === undefined;
    checked(await feeder.open(args, log.name, events, false, log.path, log.memory));
    if (reads) {
      for (;;) {
        const answer = checked(await feeder.next());
        yield answer;
        if (answer.status === 1) return;
      }
    }
    for await (const piece of log.pieces) yield checked(await feeder.feed(piece));
    yield checked(await feeder.finish());
  } finally {
    feeder.close();
  }
}

async function* convertStream(src, { to, onDamage, ...options } = {}) {
  const told = new Told(onDamage);
  const log = toldApart(src);
  for await (const { bytes, damage } of answers(log, new native.Feeder(), conversion(to, options), false)) {
    if (bytes.length > 0) yield bytes;
    if (damage) told.tell(JSON.parse(damage));
  }
}

class Events {
  #feeder = new native.Feeder();
  #batches;
  #told;
  #batch = [];
  #at = 0;
  #last = Promise.resolve();

  constructor(src, options = {}) {
    const { from, onDamage } = only(options, 'from', 'onDamage');
    this.#told = new Told(onDamage);
    this.#batches = answers(toldApart(src), this.#feeder, conversion('agentglot', { from }), true);
  }

  get format() {
    return this.#feeder.format ?? undefined;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    // Calls that do not wait for each other are answered in the order in which they are made.
    const made = this.#last.then(() => this.#next());
    this.#last = made.catch(() => {});
    return made;
  }

  async #next() {
    for (;;) {
      if (this.#at < this.#batch.length) return { done: false, value: this.#batch[this.#at++] };
      const { done, value } = await this.#batches.next();
      if (done) return { done: true, value: undefined };
      this.#batch = JSON.parse(value.text);
      this.#at = 0;
      if (value.damage) this.#told.tell(JSON.parse(value.damage));
    }
  }

  async return() {
    this.#batch = [];
    await this.#batches.return();
    return { done: true, value: undefined };
  }

  /** Whole batches, for those whom a promise for each event is too many. */
  async *batches() {
    try {
      for await (const { text, damage } of this.#batches) {
        const batch = JSON.parse(text);
        if (batch.length > 0) yield batch;
        if (damage) this.#told.tell(JSON.parse(damage));
      }
    } finally {
      await this.return();
    }
  }
}

const events = (src, options) => new Events(src, options);

class Turn {
  constructor(said) {
    Object.assign(this, said);
  }

  get calls() {
    return (this.rounds ?? []).flatMap((round) => (round.blocks ?? []).filter((block) => block.type === 'call'));
  }

  get text() {
    const blocks = (this.rounds ?? []).flatMap((round) => round.blocks ?? []);
    return blocks.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  }
}

async function* turns(src, options = {}) {
  const { from, subagents = true, onDamage } = only(options, 'from', 'subagents', 'onDamage');
  const told = new Told(onDamage);
  const log = await whole(src);
  const reading = new native.Turns();
  try {
    checked(await reading.open(log.name, log.path, log.memory, from, Boolean(subagents)));
    for (;;) {
      const { text, status } = checked(await reading.next(log.name));
      for (const { turn, damage } of JSON.parse(text)) {
        if (damage) told.tell([damage]);
        else yield new Turn(turn);
      }
      if (status === 1) return;
    }
  } finally {
    reading.close();
  }
}

async function sessions(src, options) {
  const found = new Map();
  for await (const turn of turns(src, options)) {
    if (!found.has(turn.session)) found.set(turn.session, []);
    found.get(turn.session).push(turn);
  }
  return [...found].map(([id, turns]) => ({ id, facts: turns.findLast((turn) => turn.facts)?.facts, turns }));
}

async function detect(src) {
  const log = await whole(src);
  const { text } = checked(await native.detect(log.name, log.path, log.memory));
  return JSON.parse(text) ?? undefined;
}

async function check(src, options = {}) {
  const args = ['--json', ...words({ level: 'warning', ...only(options, 'from', 'level') })];
  const log = await whole(src);
  if (log.path !== undefined) {
    await stat(log.path);
    args.push('--', log.path);
  }
  const { text, status } = checked(await native.check(args, log.name, log.memory));
  if (status === 2) {
    await detect(log.path ?? log.memory);
    throw new UnclearError(`${log.name}: the dialect could not be told`, { file: log.name });
  }
  if (status === 3) throw new Error(`${log.name}: cannot be read`);
  return lines(text);
}

async function stats(src, options = {}) {
  const args = ['--json', ...words(only(options, 'by', 'utc', 'prices'))];
  const many = Array.isArray(src) && src.every((each) => typeof each === 'string' || each instanceof URL);
  if (many && src.length === 0) throw new UsageError('no logs are named');
  const log = many ? { name: '-' } : await whole(src);
  const paths = many ? src.map(path) : log.path === undefined ? [] : [log.path];
  for (const each of paths) await stat(each);
  if (paths.length > 0) args.push('--', ...paths);
  const { text, status } = checked(await native.stats(args, log.name, log.memory));
  if (status === 2 && paths.length <= 1) await detect(log.memory ?? paths[0]);
  if (status === 3) throw new Error(`${paths.length === 1 ? paths[0] : 'a log'}: cannot be read`);
  return JSON.parse(text);
}

const formats = ({ written = false } = {}) =>
  JSON.parse(native.formats())
    .filter(([, reads, writes]) => (written ? writes : reads))
    .map(([name]) => name);

module.exports = {
  AgentglotError,
  ConvertStream,
  Converter,
  DamagedError,
  Events,
  InternalError,
  Turn,
  UnclearError,
  UsageError,
  check,
  convert,
  convertFile,
  convertFiles,
  convertStream,
  detect,
  events,
  formats,
  sessions,
  stats,
  turns,
  version,
};
