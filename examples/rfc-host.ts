// A host of the Qwen RFC that Node 22.18 or newer runs as it is: node rfc-host.ts [--script FILE] [PROGRAM [ARGUMENTS of `agentglot run`]]
//
// At a terminal: type a prompt and Enter; `/`, `?` and `@` show hints while you type; y or n answers a question; Ctrl-C or Escape
// cancels the turn; Ctrl-D quits. In a script, or lines on stdin: `say TEXT`, `start TEXT` (does not wait), `wait`, `hint TEXT`, `beat`,
// `cancel`, `approve`, `deny` (what the agent is answered from now on; at first `deny`).
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

type Json = Record<string, any>;
const [BEAT, PATIENCE] = [process.env.HOST_BEAT ?? 5, process.env.HOST_PATIENCE ?? 10].map((seconds) => 1000 * Number(seconds));
const words = process.argv.slice(2);
const script = words[0] === "--script" ? words.splice(0, 2)[1] : undefined;
const keys = script === undefined && process.stdin.isTTY;

// One JSON object a line on its stdin and stdout; stderr is its log. It is detached so that the terminal's Ctrl-C does not reach it:
// here that key cancels a turn.
const formats = ["--input-format", "stream-json", "--output-format", "stream-chunk-json"];
const program = words.shift() ?? process.env.AGENTGLOT ?? "agentglot";
const agent = spawn(program, ["run", "--as", "qwen", ...words, ...formats], { stdio: ["pipe", "pipe", "inherit"], detached: true });
agent.stdin.on("error", () => {}); // it has ended, and its stdout says so too
let [session, behavior, typed, busy, over, asked, heard] = ["_new", "deny", "", false, false, 0, Date.now()];
let question: string | undefined;
const came: Record<string, number> = { hint: 0, beat: 0, cancel: 0 }; // so many answers: a script waits for the next one
const calls = new Map<number, { name: string; text: string }>();
let waiting: { done: () => boolean; go: () => void }[] = [];
const send = (line: Json) => agent.stdin.write(JSON.stringify(line) + "\n");
const show = (text: string) => process.stdout.write(text);

// What the host says. `_new` makes a session, the receipt tells its id; the agent makes a prompt_id if we give none.
function say(text: string | Json[], more: Json = {}) {
  busy = true;
  const parts = typeof text === "string" ? [{ type: "text", text }] : text;
  const capabilities = "confirm_shell_commands confirm_action"; // what commands ask, we answer as what tools ask
  send({ session_id: session, input: { origin: "user", parts }, capabilities, ...more });
}
// What could follow? Nothing of it goes into the conversation, and the latest request wins.
function hint(text: string) {
  const trigger = /^[/?]/.test(text) ? "slash" : "at";
  const context = { cwd: process.cwd(), selected_text: "" };
  const cursor = [...text].length; // in code points
  send({ type: "command_hint_request", session_id: session, prompt_id: `${session}########preview`, trigger, text, cursor, context });
}
const beat = () => send({ type: "heartbeat_request", session_id: session });
const cancel = () => send({ type: "control/cancel", session_id: session, reason: "escape" }); // without a prompt_id: whatever runs
function answer(behavior: string) {
  send({ type: "control_response", request_id: question, response: { subtype: "success", result: { behavior } } });
  question = undefined;
  show(`[${behavior}]\n`);
}

// What the agent says.
function hear(line: Json) {
  if (line.type === "control_request") control(line.request_id, line.request ?? line); // the RFC's other text has it flat
  else if (line.type === "result/command_hint") {
    if (line.status === "loading") return; // another one comes
    came.hint++;
    const labels = (line.suggestions ?? []).map((one: Json) => one.label).join("  ");
    show(`\n[hints: ${labels || line.message || "none"} ]\n${keys ? "> " + typed : ""}`);
  } else if (line.type === "result/heartbeat") [came.beat, heard] = [came.beat + 1, Date.now()];
  else if (line.type === "result/cancel" || line.type === "x-qwen-session-event") {
    if (line.type === "result/cancel") came.cancel++;
    show(`\n[${line.event ?? "cancel " + line.status}: ${line.message ?? ""}]\n`);
  } else if (line.type === "result/command") {
    show(`\n[command ${line.result.type}: ${line.result.content ?? line.result.prompt ?? ""}]\n`);
    // What `@` read goes to the model by itself; what is to be submitted is for us to submit; other commands end here.
    busy = line.command.kind === "at" && line.result.status !== "error";
    const { type, parts = [], tool_request } = line.result; // a tool is the user's own call, which the agent runs for us
    if (["submit_prompt", "tool"].includes(type)) say(parts, { continuation: true, tool_request });
    else if (type === "quit") agent.stdin.end();
  } else if (String(line.object).startsWith("chat.completion")) completion(line, line.metadata ?? {});
  else if (line.error) show(`\n[fatal ${line.error.code}: ${line.error.message}]\n`); // a bare error: the program ends
}
function completion(line: Json, metadata: Json) {
  if (metadata.protocol_version) { // the receipt, once a session; every line's id is chatcmpl-<session>
    session = line.id.replace(/^chatcmpl-/, "");
    show(`[session begins, protocol ${metadata.protocol_version}]\n`);
  }
  for (const { delta = {}, finish_reason } of line.choices) {
    show((delta.reasoning_content ?? "") + (delta.content ?? ""));
    for (const { index, function: piece } of delta.tool_calls ?? []) { // pieces with one index make one call
      const { name, text } = calls.get(index) ?? { name: "", text: "" };
      calls.set(index, { name: name + (piece.name ?? ""), text: text + (piece.arguments ?? "") });
    }
    for (const { type, status, result_display } of delta.annotations ?? [])
      if (type === "x-qwen-tool-display" && ["success", "error", "canceled"].includes(status))
        show(`\n[tool ${status}: ${result_display?.text ?? ""}]\n`);
    if (!finish_reason) continue;
    for (const { name, text } of calls.values()) show(`\n[call ${name} ${text}]\n`); // a round ends: its calls are whole
    calls.clear();
  }
  if (metadata.summary !== "true") return;
  busy = false; // the last line of a turn
  show((metadata.is_error === "true" ? `\n[error: ${metadata.error}]` : "") + `\n[turn ends: ${metadata.outcome}]\n`);
}
function control(request_id: string, request: Json) {
  if (!["can_use_tool", "confirm_shell_commands", "confirm_action"].includes(request.subtype)) {
    return send({ type: "control_response", request_id, response: { subtype: "error", error: { message: "this host has none", retryable: false } } });
  }
  question = request_id;
  show(`\n[may it? ${JSON.stringify(request.tool ?? request.commands ?? request.prompt)} ] ${keys ? "y / n" : ""}\n`);
  if (!keys) answer(behavior);
}

// The loop: lines, keys and the clock. A script waits until what it waits for is so.
const until = (done: () => boolean) => new Promise<void>((go) => { waiting.push({ done, go }); look(); });
function look() {
  const ready = waiting.filter(({ done }) => over || done());
  waiting = waiting.filter((one) => !ready.includes(one));
  for (const { go } of ready) go();
}
const lines = createInterface({ input: agent.stdout });
lines.on("line", (line) => (hear(JSON.parse(line)), look()));
lines.on("close", () => ((over = true), look()));
agent.on("error", (error) => { console.error(String(error)); process.exit(1); });
agent.on("close", (code) => process.exit(code ?? 1));
setInterval(() => {
  if (asked > heard && Date.now() - heard > PATIENCE) show("\n[no heartbeat: the agent may be stuck]\n");
  asked = Date.now();
  beat();
}, BEAT);
async function run(text: string) {
  for (const line of text.split("\n").filter((line) => line.trim())) {
    const [, word, rest] = /^(\S+) ?(.*)$/.exec(line)!;
    const before = came[word];
    if (word === "approve" || word === "deny") behavior = word;
    else if (word === "say" || word === "start") say(rest);
    else if (word in came) {
      ({ hint, beat, cancel } as Json)[word](rest);
      await until(() => came[word] > before);
    }
    if (["say", "wait", "cancel"].includes(word)) await until(() => !busy);
    show(`[${word} done]\n`);
  }
  agent.stdin.end(); // the end of its input is the end of the agent
}
function key(key: string) {
  if (question && /^[yn]$/.test(key)) answer(key === "y" ? "approve" : "deny");
  else if (key === "\x1b" || key === "\x03") cancel();
  else if (key === "\x04") agent.stdin.end();
  else if (key === "\r" && typed) { show("\r\n"); say(typed); typed = ""; }
  else if (key >= " ") {
    typed = key === "\x7f" ? typed.slice(0, -1) : typed + key;
    if (/^[/?]|(^| )@\S*$/.test(typed)) hint(typed);
    show(`\r\x1b[K> ${typed}`);
  }
}
if (keys) process.stdin.setRawMode(true).setEncoding("utf8").on("data", (text) => { for (const one of String(text)) key(one); });
else run(readFileSync(script ?? 0, "utf8"));
