// Events: what an agent and its host say, one interface for each kind, with the members that `agentglot:events` has for it.

/** Tokens: of a round, a turn, or the session so far, as `scope` says. */
export interface Usage {
  /** `round`, `turn` or `session`. */
  scope: string;
  input?: number;
  output?: number;
  /** Those of the output that the model thought with; beside the output, where `reasoning_beside` says so. */
  reasoning?: number;
  cache_read?: number;
  cache_write?: number;
  total?: number;
  /** `input` counts cached tokens too. */
  inclusive?: boolean;
  /** `reasoning` is no part of `output`. */
  reasoning_beside?: boolean;
  /** The numbers were worked out. */
  derived?: boolean;
  /** The object that the log has. */
  raw?: unknown;
}

/** The subagent that speaks. */
export interface Agent {
  is?: string;
  id?: string;
  name?: string;
  task?: string;
}

/** A member that only the log's own dialect knows. */
export interface Field {
  key: string;
  value?: unknown;
  /** The JSON pointer of the object that it stood in; absent: the line itself. */
  at?: string;
  /** The number of the content block that it stood in. */
  block?: number;
  /** The dialect's page names it. */
  known?: boolean;
}

/** The tool call that a host is asked about. */
export interface Permission {
  name: string;
  call?: string;
  input?: unknown;
  suggestions?: unknown;
}

/** A piece of a reply or of a content. `type` says which: `text` (text), `thinking` (text, signature, subject), `redacted` (data), `call` (id, name, kind, input), `media` (kind, raw), `other` (kind, raw). */
export interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  /** Of a call: what the tool does (`read`, `edit`, `shell` …, `other`), whatever it is called. */
  kind?: string;
  input?: unknown;
  signature?: string;
  subject?: string;
  data?: string;
  raw?: unknown;
  fields?: Field[];
}

/** A text, or blocks. */
export type Content = string | Block[];

/** What every event has. A member that the log does not have is absent, never zero. */
export interface Common {
  /** The session's id. */
  session?: string;
  /** The id of the line. */
  id?: string;
  /** The tool call whose subagent speaks; absent: the main thread. */
  parent?: string;
  /** The subagent, where the line names it. */
  agent?: Agent;
  /** The turn's id. */
  turn?: string;
  /** When, in ISO 8601. */
  time?: string;
  /** When, in milliseconds since 1970. */
  time_ms?: number;
  /** When, in seconds since 1970. */
  time_s?: number;
  /** What only the log's dialect knows. */
  fields?: Field[];
}

/** The session's facts. */
export interface SessionFacts extends Common {
  event: 'session';
  cwd?: string;
  model?: string;
  tools?: unknown;
  permission_mode?: string;
  version?: string;
  api_key_source?: string;
  mcp_servers?: unknown;
  slash_commands?: unknown;
  agents?: unknown;
  protocol_version?: unknown;
  capabilities?: unknown;
  resumed?: boolean;
  opens_turn?: boolean;
}

/** Something about the session that is no part of the conversation; `topic` says what: retry, compaction, status, task, hook, permission, limit … */
export interface Notice extends Common {
  event: 'notice';
  name?: string;
  topic?: string;
  message?: string;
  data?: unknown;
}

/** Text in the user's role. `source`: host, echo, agent or parent. */
export interface Prompt extends Common {
  event: 'prompt';
  source?: string;
  content?: Content;
}

/** A model call begins. */
export interface RoundStart extends Common {
  event: 'round_start';
  round?: string;
  model?: string;
  usage?: Usage;
  number?: number;
}

/** A block begins in pieces. */
export interface BlockStart extends Common {
  event: 'block_start';
  index?: number;
  block?: Block;
}

/** A piece of a block. */
export interface Delta extends Common {
  event: 'delta';
  index?: number;
  text?: string;
  thinking?: string;
  signature?: string;
  subject?: string;
  input?: string;
  other?: unknown;
}

/** A block is complete. */
export interface BlockStop extends Common {
  event: 'block_stop';
  index?: number;
}

/** Why the reply stopped, and what it took; its id, where only something behind the beginning says it. */
export interface RoundStop extends Common {
  event: 'round_stop';
  round?: string;
  stop?: string;
  usage?: Usage;
}

/** A model call is over; blocks from `abandoned_from` on are taken back. */
export interface RoundEnd extends Common {
  event: 'round_end';
  stop?: string;
  usage?: Usage;
  abandoned_from?: number;
}

/** Whole blocks of a reply. A reply may come in several, with one `round`. */
export interface Reply extends Common {
  event: 'reply';
  round?: string;
  model?: string;
  blocks?: Block[];
  stop?: string;
  usage?: Usage;
  error?: string;
  last?: boolean;
}

/** What came of a tool call. `status`: success, error, denied or canceled. */
export interface ToolResult extends Common {
  event: 'tool_result';
  call?: string;
  name?: string;
  status?: string;
  content?: Content;
  is_error?: boolean;
  detail_shape?: string;
  detail?: unknown;
  result?: unknown;
  of?: Block;
}

/** A tool call is on its way. */
export interface ToolProgress extends Common {
  event: 'tool_progress';
  call?: string;
  status?: string;
  content?: unknown;
  confirmation?: unknown;
}

/** Output for a terminal. */
export interface Terminal extends Common {
  event: 'terminal';
  text?: string;
  channel?: string;
  source?: string;
  spans?: unknown;
  ansi?: unknown;
  level?: string;
  exit_code?: unknown;
  raw_ansi?: string;
}

/** The agent asks its host. */
export interface Request extends Common {
  event: 'request';
  request_id?: string;
  subtype?: string;
  permission?: Permission;
}

/** The agent answers its host. */
export interface Response extends Common {
  event: 'response';
  request_id?: string;
  ok?: boolean;
  body?: unknown;
  error?: unknown;
}

/** The agent takes a question back. */
export interface Withdraw extends Common {
  event: 'withdraw';
  request_id?: string;
}

/** What came of a slash or `@` command. */
export interface CommandResult extends Common {
  event: 'command';
  command?: unknown;
  result?: unknown;
}

/** Suggestions while the user types. */
export interface HintResult extends Common {
  event: 'hint';
  trigger?: string;
  status?: string;
  suggestions?: unknown;
  metadata?: unknown;
  message?: string;
}

/** A sign of life. */
export interface Heartbeat extends Common {
  event: 'heartbeat';
  status?: string;
  ts?: unknown;
}

/** The answer to a cancel. */
export interface CancelResult extends Common {
  event: 'cancel_result';
  status?: string;
  message?: string;
}

/** How the turn ended; exactly one a turn. `outcome`: success, refused, limit_turns …; `synthetic`: the log has none, and this was made up. */
export interface Outcome extends Common {
  event: 'outcome';
  outcome?: string;
  is_error?: boolean;
  synthetic?: boolean;
  text?: string;
  error?: string;
  word?: string;
  duration_ms?: unknown;
  duration_api_ms?: unknown;
  num_turns?: number;
  cost_usd?: number;
  cost_scope?: string;
  usage?: Usage;
  stop?: string;
  denials?: unknown;
  structured?: unknown;
  request_id?: string;
}

/** The program itself ends with an error. */
export interface Fatal extends Common {
  event: 'fatal';
  message?: string;
  kind?: string;
  param?: unknown;
  code?: unknown;
}

/** Text that is no JSON. */
export interface Noise extends Common {
  event: 'noise';
  text?: string;
}

/** JSON of no type that the dialect knows. */
export interface Unknown extends Common {
  event: 'unknown';
  line?: unknown;
}

/** A prompt. `source`: as in `Prompt`. */
export interface HostPrompt extends Common {
  input: 'prompt';
  source?: string;
  content?: Content;
}

/** A request of the Qwen RFC. */
export interface ChatRequest extends Common {
  input: 'chat';
  model?: string;
  from?: string;
  parts?: unknown;
  command?: unknown;
  tool_call?: string;
  options?: unknown;
  tools?: unknown;
  messages?: unknown;
  protocol_version?: unknown;
}

/** The host asks the agent. */
export interface HostRequest extends Common {
  input: 'request';
  request_id?: string;
  subtype?: string;
  permission?: Permission;
}

/** The host answers the agent. */
export interface HostResponse extends Common {
  input: 'response';
  request_id?: string;
  ok?: boolean;
  body?: unknown;
  error?: unknown;
}

/** The host takes a question back. */
export interface HostWithdraw extends Common {
  input: 'withdraw';
  request_id?: string;
}

/** The user types. */
export interface HintRequest extends Common {
  input: 'hint';
  trigger?: string;
  text?: string;
  cursor?: unknown;
  context?: unknown;
}

/** No suggestions are wanted any more. */
export interface HintCancel extends Common {
  input: 'hint_cancel';
}

/** A sign of life. */
export interface HostHeartbeat extends Common {
  input: 'heartbeat';
  interval_ms?: unknown;
}

/** The turn is to end. */
export interface Cancel extends Common {
  input: 'cancel';
  reason?: string;
}

/** The line is to be kept open. */
export interface KeepAlive extends Common {
  input: 'keep_alive';
}

/** Variables of the agent's environment. */
export interface Environment extends Common {
  input: 'environment';
  variables?: unknown;
}

/** Text that is no JSON. */
export interface HostNoise extends Common {
  input: 'noise';
  text?: string;
}

/** JSON of no type that the dialect knows. */
export interface HostUnknown extends Common {
  input: 'unknown';
  line?: unknown;
}

/** What an agent says: told apart by `event`. */
export type AgentEvent =
  | SessionFacts
  | Notice
  | Prompt
  | RoundStart
  | BlockStart
  | Delta
  | BlockStop
  | RoundStop
  | RoundEnd
  | Reply
  | ToolResult
  | ToolProgress
  | Terminal
  | Request
  | Response
  | Withdraw
  | CommandResult
  | HintResult
  | Heartbeat
  | CancelResult
  | Outcome
  | Fatal
  | Noise
  | Unknown;

/** What its host says: told apart by `input`. */
export type HostEvent =
  | HostPrompt
  | ChatRequest
  | HostRequest
  | HostResponse
  | HostWithdraw
  | HintRequest
  | HintCancel
  | HostHeartbeat
  | Cancel
  | KeepAlive
  | Environment
  | HostNoise
  | HostUnknown;

/** A line of `agentglot:events`, as it stands there. */
export type Event = AgentEvent | HostEvent;
