// Shows a session of the Qwen RFC in a terminal: the assistant's words as they are, thoughts dim, tools with their state, and what
// tools print with the escape sequences put back where they stood.
"use strict";

const DIM = "\x1b[2;3m", BOLD = "\x1b[1m", PLAIN = "\x1b[0m";
const COLORS = { pending: 90, confirming: 33, executing: 36, success: 32, error: 31, canceled: 35 };

// Text with its sequences. Their offsets count code points of the text, as both texts of the RFC are read here; several sequences at one
// offset stand in their order.
function withAnsi(text, ansi) {
  const points = [...text];
  let out = "", at = 0;
  for (const { offset, sequence, code } of ansi ?? []) {
    out += points.slice(at, offset).join("") + (sequence ?? code); // the RFC's other text says `code`
    at = Math.max(at, offset);
  }
  return out + points.slice(at).join("");
}

class Show {
  constructor(terminal) {
    this.terminal = terminal;
    this.column = 0; // whether the line is empty
    this.calls = new Map(); // what each call is, by its id
    this.indexes = new Map(); // which call a piece belongs to
    this.printed = new Set(); // calls whose output was seen as it came
    this.running = undefined;
  }

  put(text) {
    if (!text) return;
    this.terminal.write(text);
    const plain = text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, "");
    if (plain) this.column = plain.endsWith("\n") ? 0 : 1;
  }

  // A line of its own.
  line(text) {
    this.put((this.column ? "\n" : "") + text + "\n");
  }

  hear(line) {
    if (line.type === "control_request") {
      const request = line.request ?? line;
      this.line(`\x1b[33m? may it: ${request.tool?.name ?? request.subtype}${PLAIN}`);
    } else if (line.type === "x-qwen-session-event") this.line(`${DIM}${line.message ?? line.event}${PLAIN}`);
    for (const { delta, message } of line.choices ?? []) this.said(delta ?? message ?? {});
    const metadata = line.metadata ?? {};
    if (metadata.summary === "true") {
      const used = line.usage ? `, ${line.usage.total_tokens} tokens` : "";
      this.line(`${DIM}— ${metadata.outcome}${used} —${PLAIN}`);
    }
  }

  said({ content, reasoning_content, tool_calls, annotations }) {
    const notes = annotations ?? [];
    const terminal = notes.find((note) => note.type === "x-qwen-terminal");
    // The same words stand in reasoning_content and in the annotation: one of them is shown.
    const thought = reasoning_content ?? notes.filter((note) => note.type === "x-qwen-thought").map((note) => note.description).join("");
    if (thought) this.put(DIM + thought + PLAIN);
    else if (this.thinking && this.column && (content || tool_calls)) this.put("\n");
    this.thinking = Boolean(thought) || (this.thinking && !content && !tool_calls);
    if (content) this.put(terminal ? withAnsi(content, terminal.ansi) : content);
    if (terminal?.source === "tool") this.printed.add(this.running);
    for (const call of tool_calls ?? []) {
      if (call.id) this.indexes.set(call.index, call.id);
      const id = this.indexes.get(call.index);
      const known = this.calls.get(id) ?? { name: "", text: "" };
      this.calls.set(id, { name: known.name + (call.function.name ?? ""), text: known.text + (call.function.arguments ?? "") });
    }
    for (const note of notes) {
      if (note.type === "x-qwen-ansi") this.terminal.write(note.value);
      else if (note.type === "x-qwen-tool-display") this.tool(note);
      else if (note.type === "x-qwen-session-event") this.line(`${DIM}${note.message ?? note.event}${PLAIN}`);
    }
  }

  tool({ tool_call_id, status, result_display }) {
    const state = status.toLowerCase();
    const { name, text } = this.calls.get(tool_call_id) ?? { name: tool_call_id, text: "" };
    if (state === "executing") this.running = tool_call_id;
    const about = state === "pending" ? ` ${DIM}${summary(text)}${PLAIN}` : "";
    this.line(`\x1b[${COLORS[state] ?? 37}m● ${BOLD}${name}${PLAIN} \x1b[${COLORS[state] ?? 37}m${state}${PLAIN}${about}`);
    if (!["success", "error", "canceled"].includes(state) || !result_display) return;
    if (result_display.kind === "file_diff") this.line(colored(result_display.diff));
    else if (result_display.kind === "todo_list") {
      for (const { content, status } of result_display.todos) this.line(`  ${status === "completed" ? "☑" : status === "in_progress" ? "▶" : "☐"} ${content}`);
    } else if (result_display.kind === "plan_summary") this.line(result_display.plan_markdown ?? result_display.message ?? "");
    else if (!this.printed.has(tool_call_id) && result_display.text) this.line(result_display.text);
  }
}

// What a call is about: its command, its file, or all of it.
function summary(text) {
  try {
    const { command, description, file_path, absolute_path, path } = JSON.parse(text);
    return [description ?? command ?? file_path ?? absolute_path ?? path ?? text].join("").slice(0, 80);
  } catch {
    return text.slice(0, 80);
  }
}

function colored(diff) {
  const color = { "+": 32, "-": 31, "@": 36 };
  return (diff ?? "").trimEnd().split("\n").map((line) => (color[line[0]] ? `\x1b[${color[line[0]]}m${line}${PLAIN}` : line)).join("\n");
}

async function main() {
  const terminal = new Terminal({ cols: 110, rows: 36, lineHeight: 1.2, convertEol: true, fontFamily: "DejaVu Sans Mono, monospace", fontSize: 14, disableStdin: true });
  terminal.open(document.getElementById("terminal"));
  const name = new URLSearchParams(location.search).get("session") ?? "session.jsonl";
  const show = new Show(terminal);
  for (const line of (await (await fetch(name)).text()).split("\n")) if (line.trim()) show.hear(JSON.parse(line));
  // Writing goes on in the background; this is called behind all of it.
  terminal.write("", () => {
    const buffer = terminal.buffer.active, text = [];
    for (let row = 0; row < buffer.length; row++) text.push(buffer.getLine(row).translateToString(true));
    document.getElementById("text").textContent = text.join("\n").trimEnd();
    document.body.dataset.lines = "shown";
  });
}

main().catch((error) => {
  document.getElementById("text").textContent = String(error);
  document.body.dataset.lines = "failed";
});
