/// <reference types="node" />
import { Transform, TransformOptions } from 'node:stream';
import { Agent, Block, Event, Field, Notice, Outcome, Prompt, Request, Response, SessionFacts, ToolProgress, ToolResult, Usage } from './model';

export * from './model';

/** A log as a whole: a path (`.gz` and `.zst` are unpacked), what it holds, or its pieces (a stream that is read, a generator …). */
export type Source = string | URL | Uint8Array | ArrayBuffer | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A line of a log, or a part of one, that could not be read and was left out. */
export interface Damage {
  /** The log, or the file of a subagent that belongs to it. */
  file: string;
  /** The line, counted from 1; in a `json` format, the message. */
  line: number;
  /** The byte within the line, counted from 1. */
  byte: number;
  /** The JSON pointer of what is wrong, where there is one. */
  pointer: string | null;
  /** What is wrong. */
  reason: string;
}

/** What becomes of damaged lines, which are left out in any case: an error, a warning of the process, nothing, or a call for each. */
export type OnDamage = 'throw' | 'warn' | 'ignore' | ((damage: Damage) => unknown);

/** How a log is read. */
export interface Reading {
  /** What the log is written in (`claude`, `qwen:stream-chunk-json` …); without it, it is detected. */
  from?: string;
  /** `throw` without it. */
  onDamage?: OnDamage;
}

/** How a log is converted: the options of `agentglot convert`. */
export interface Options {
  /** A dialect or one of its formats; `formats({ written: true })` lists them. */
  to: string;
  /** The dialect of the log; without it, it is detected for each session. */
  from?: string;
  /** Tools get the target's own names and arguments, or keep those of the log. */
  tools?: 'native' | 'verbatim';
  /** Deltas are written too, by dialects that leave them out unless asked. */
  partial?: boolean;
  /** The first damage, unknown type or unknown field ends the conversion. */
  strict?: boolean;
  /** Results and outcomes that a killed run lacks are added. */
  repair?: boolean;
  /** Parts that do not go over are checked in full too. */
  validate?: boolean;
  /** Longer lines are left out, as damage. In bytes; 256 MiB without it. */
  maxLine?: number;
  /** Prompts that the log lacks, one for each turn. */
  prompts?: readonly string[];
  /** Cursor's text in its old style. */
  oldText?: boolean;
  /** The working folder of a command goes into the command, where the target has no other place for it. */
  cdInCommands?: boolean;
  /** `claude:json` as an array of all messages. */
  allMessages?: boolean;
}

/** The root of what this package throws. What the system says of files is thrown as by `node:fs`, with `code` and `path`. */
export class AgentglotError extends Error {
  /** The log that it is about, if it is about one. */
  file?: string;
  /** The line, counted from 1. */
  line?: number;
  /** The byte within the line, counted from 1. */
  byte?: number;
}

/** Some of a log is damaged: `file`, `line` and `byte` say where the first damage is. */
export class DamagedError extends AgentglotError {
  /** All that is damaged; of one log no more than a thousand places. */
  damage: Damage[];
  /** What was made of everything else. */
  output?: Buffer;
}

/** Which dialect a log is written in could not be told; `from` names it. */
export class UnclearError extends AgentglotError {
  /** The formats that it may be, the likeliest first. */
  candidates: string[];
}

/** An argument makes no sense: no dialect has that name, or it is not written. */
export class UsageError extends AgentglotError {}

/** A fault of agentglot's own. What was being read or written is not to be used any further. */
export class InternalError extends AgentglotError {}

/** Converts a log and gives the bytes of the other one. A log that lies in a file gets the work of its subagents, whose files lie beside it,
 * and is converted in `jobs` parts at a time where it is long (as many as there are processors without it).
 *
 * Rejects with {@link DamagedError} when some of it is damaged, unless `onDamage` says otherwise; with {@link UnclearError} when nobody says
 * what it is written in and that cannot be told. */
export function convert(src: Source, options: Options & { jobs?: number; onDamage?: OnDamage }): Promise<Buffer>;

/** The same piece by piece, as the log comes: what one piece of it gives is there before the next one is read. The error about damage comes
 * behind the output of the piece that it is in. */
export function convertStream(src: Source, options: Options & { onDamage?: OnDamage }): AsyncGenerator<Buffer, void, undefined>;

/** What came of the conversion of a file. */
export interface Conversion {
  /** The file that was read. */
  log: string;
  /** What it is written in, if that could be told. */
  from: string | null;
  /** The file that was written. */
  output: string | null;
  /** Lines read. */
  lines: number;
  /** Lines that the target has no place for. */
  lost: number;
  /** Lines of which others of the output say the same. */
  merged: number;
  /** Damaged lines, and parts of lines. */
  damaged: number;
  /** The first thousand of them. */
  damage: Damage[];
  /** Why it was not converted, or not to its end. */
  error: string | null;
}

/** Converts a file into another, which is compressed if it is called `.gz` or `.zst` and gets its name when it is whole. When it rejects with
 * {@link DamagedError}, everything else has been written. `ledger` is a file for everything that was not carried over unchanged. */
export function convertFile(
  from: string | URL,
  output: string | URL,
  options: Options & { ledger?: string; jobs?: number; onDamage?: OnDamage },
): Promise<Conversion>;

/** Converts files, and folders of them, into the folder `output`, and tells what came of each. A bad log does not stop the others: its `error`
 * or `damage` says what is wrong. `include` are patterns of names that are logs in folders. */
export function convertFiles(
  paths: string | URL | Iterable<string | URL>,
  options: Options & { output: string | URL; ledger?: string; include?: readonly string[]; jobs?: number },
): Promise<Conversion[]>;

/** A conversion that is fed with pieces of any size and gives pieces; where they are cut changes nothing. Calls need not be waited for: they
 * are done in the order in which they are made. */
export class Converter {
  /** `name` is what the log is called in messages. */
  constructor(options: Options & { onDamage?: OnDamage; name?: string; ledger?: boolean });
  /** Takes the next piece of the log and gives what it makes. */
  feed(piece: Uint8Array | ArrayBuffer): Promise<Buffer>;
  /** The log is over: gives what was still held. A second call gives nothing. */
  finish(): Promise<Buffer>;
  /** The entries of the ledger that were made since the last call, where `ledger` was asked for. */
  takeLedger(): Record<string, unknown>[];
  /** What the log is written in, if that is known by now. */
  readonly format: string | undefined;
  /** How many lines have been read. */
  readonly lines: number;
}

/** A conversion for pipes: `createReadStream(log).pipe(new ConvertStream({ to: 'cursor' }))`. */
export class ConvertStream extends Transform {
  constructor(options: Options & { onDamage?: OnDamage; name?: string } & Pick<TransformOptions, 'highWaterMark' | 'readableHighWaterMark' | 'writableHighWaterMark' | 'signal'>);
  /** What the log is written in, if that is known by now. */
  readonly format: string | undefined;
}

/** The events of a log, one after the other. After {@link DamagedError} the next call of `next` goes on behind the damage. */
export class Events implements AsyncIterableIterator<Event> {
  private constructor();
  [Symbol.asyncIterator](): this;
  next(): Promise<IteratorResult<Event, undefined>>;
  /** Reads no more, and lets go of the file. */
  return(): Promise<IteratorResult<Event, undefined>>;
  /** Whole batches in place of single events: faster, as there is no promise for each. */
  batches(): AsyncGenerator<Event[], void, undefined>;
  /** What the log is written in, as far as it has been read. */
  readonly format: string | undefined;
}

/** The events of a log, in the order in which they stand, as they stand; and the outcome of turns that have none, marked `synthetic`. They
 * come in batches, so a log of any length fits. */
export function events(src: Source, options?: Reading): Events;

/** A question for permission, and what came of it. */
export interface Asked {
  asked?: Request;
  answer?: Response;
  withdrawn?: boolean;
}

/** What a subagent did for a call. */
export interface Subagent {
  call?: string;
  agent?: Agent;
  prompts?: Prompt[];
  rounds?: Round[];
}

/** A tool call, and what came of it. */
export interface Call {
  type: 'call';
  id: string;
  name: string;
  /** What the tool does (`read`, `edit`, `shell` …), whatever it is called. */
  kind?: string;
  /** Its arguments. */
  input?: unknown;
  fields?: Field[];
  /** When it was called, ISO 8601. */
  asked?: string;
  /** When its result came. */
  answered?: string;
  permission?: Asked;
  progress?: ToolProgress[];
  result?: ToolResult;
  subagent?: Subagent;
}

/** A block of a reply that is no tool call. */
export type Said = Block & { type: 'text' | 'thinking' | 'redacted' | 'media' | 'other' };

/** One reply of the model. */
export interface Round {
  id?: string;
  model?: string;
  time?: string;
  blocks?: (Said | Call)[];
  /** Blocks that were taken back. */
  retracted?: (Said | Call)[];
  stop?: string;
  usage?: Usage;
  error?: string;
}

/** One prompt up to its outcome. */
export class Turn {
  private constructor();
  session?: string;
  /** Which turn of its session, counted from 1. */
  number: number;
  facts?: SessionFacts;
  started?: string;
  ended?: string;
  prompts?: Prompt[];
  rounds?: Round[];
  /** Subagents whose call the log does not hold. */
  strays?: Subagent[];
  /** Those that name no call of the turn. */
  permissions?: Asked[];
  retries?: Notice[];
  compactions?: Notice[];
  /** What belongs nowhere else. */
  others?: Event[];
  usage?: Usage;
  session_usage?: Usage;
  outcome?: Outcome;
  /** The tool calls of the main thread, in order. */
  get calls(): Call[];
  /** What the agent said in the main thread. */
  get text(): string;
}

/** One conversation with one id. */
export interface Session {
  id: string | undefined;
  /** What was said of it last. */
  facts: SessionFacts | undefined;
  turns: Turn[];
}

/** The turns of a log, each when it has ended, with calls and their results, subagents and permissions put in their places. The files of
 * subagents that lie beside a session's file are read with it, unless `subagents` is false. */
export function turns(src: Source, options?: Reading & { subagents?: boolean }): AsyncGenerator<Turn, void, undefined>;

/** The sessions of a log, in the order in which they begin. */
export function sessions(src: Source, options?: Reading & { subagents?: boolean }): Promise<Session[]>;

/** What a log is written in, and what told. */
export interface Found {
  /** The format: `claude:stream-json`. */
  format: string;
  /** What told: `line 1: system/init with claude_code_version`. */
  why: string;
}

/** What a log is written in; `undefined` if there is nothing in it. Rejects with {@link UnclearError} when that cannot be told. */
export function detect(src: Source): Promise<Found | undefined>;

/** Something that is wrong, or odd, with a log. */
export interface Finding {
  file: string;
  line: number;
  byte: number;
  pointer: string;
  level: 'error' | 'warning' | 'note';
  rule: string;
  message: string;
  /** How many there are, where one stands for many. */
  count?: number;
}

/** What is wrong with a log, as far as it is at least this bad (`warning` without it). */
export function check(src: Source, options?: { from?: string; level?: 'error' | 'warning' | 'note' }): Promise<Finding[]>;

/** What agents used: `rows` and their `total`, as `agentglot stats --json` has them. */
export interface Stats {
  rows: Record<string, unknown>[];
  total: Record<string, unknown>;
  [more: string]: unknown;
}

/**
 * What agents used, for each session, or `by` day, week, model … Days are local, or those of `utc`. What no log says of money, a table of prices does,
 * before which goes the file `prices`.
 */
export function stats(
  src: Source | readonly (string | URL)[],
  options?: { by?: 'session' | 'day' | 'week' | 'model' | 'tool' | 'project' | 'agent'; utc?: boolean; prices?: string | URL },
): Promise<Stats>;

/** The formats that are read, or those that are written. */
export function formats(options?: { written?: boolean }): string[];

/** The version of the package. */
export const version: string;
