// The same translation as translate.py, which says what it is: translate.mjs [FILE].
import { openSync, readSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isDeepStrictEqual } from "node:util";

const FINISH = { end_turn: "stop", stop_sequence: "stop", tool_use: "tool_calls", max_tokens: "length" };

let session = null;
let model = "unknown";
let calls = 0;
let annotations = 0;
let places = []; // content block -> index of its call or of its annotation
let pieces = []; // of the arguments of the call that is open
let out = "";

function chunk(delta, finish = null, metadata = undefined) {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  put({ id: "chatcmpl-" + session, object: "chat.completion.chunk", created: 0, model, choices, metadata });
}

function put(value) {
  out += JSON.stringify(value) + "\n";
}

function translate(line) {
  switch (line.type) {
    case "stream_event":
      return event(line.event);
    case "assistant":
      return args(line.message.content[0]);
    case "user":
      return results(line.message.content);
    case "result":
      return result(line);
    case "system":
      if (line.subtype === "init") init(line);
  }
}

function init(line) {
  model = line.model;
  if (line.session_id === session) return;
  session = line.session_id;
  chunk({ role: "assistant" }, null, {
    protocol_version: "1",
    output_format: "stream-chunk-json",
    cwd: line.cwd,
    tools: line.tools.join(" "),
    permission_mode: line.permissionMode,
    agent_version: line.claude_code_version,
  });
}

function event(event) {
  switch (event.type) {
    case "content_block_delta":
      return delta(event.index, event.delta);
    case "content_block_start": {
      const block = event.content_block;
      if (block.type === "thinking") {
        places[event.index] = annotations++;
      } else if (block.type === "tool_use") {
        const index = (places[event.index] = calls++);
        chunk({ tool_calls: [{ index, id: block.id, type: "function", function: { name: block.name, arguments: "" } }] });
      }
      return;
    }
    case "message_start":
      model = event.message.model;
      places = [];
      return chunk({ role: "assistant" });
    case "message_delta":
      return chunk({}, FINISH[event.delta.stop_reason] ?? "stop");
  }
}

function delta(block, delta) {
  switch (delta.type) {
    case "text_delta":
      return chunk({ content: delta.text });
    case "thinking_delta": {
      const text = delta.thinking;
      const thought = { type: "x-qwen-thought", subject: "", description: text, index: places[block] };
      return chunk({ reasoning_content: text, annotations: [thought] });
    }
    case "input_json_delta":
      if (delta.partial_json) pieces.push(delta.partial_json);
  }
}

// The arguments of a call, when they are known for good: the program may have changed what was streamed.
function args(block) {
  if (block.type !== "tool_use") return;
  const held = pieces;
  pieces = [];
  const said = held.length > 0 && isDeepStrictEqual(JSON.parse(held.join("")), block.input);
  for (const piece of said ? held : [JSON.stringify(block.input)]) {
    chunk({ tool_calls: [{ index: calls - 1, function: { arguments: piece } }] });
  }
}

function results(blocks) {
  if (typeof blocks === "string") return;
  for (const block of blocks) {
    if (block.type !== "tool_result") continue;
    const parts = block.content;
    const text = typeof parts === "string" ? parts : parts.filter((part) => part.type === "text").map((part) => part.text).join("");
    const shown = {
      type: "x-qwen-tool-display",
      tool_call_id: block.tool_use_id,
      session_id: session,
      status: block.is_error ? "error" : "success",
      result_display: { kind: "string", text },
      index: annotations++,
    };
    chunk({ annotations: [shown] });
  }
}

function result(line) {
  const cached = line.usage.cache_read_input_tokens;
  const prompt = line.usage.input_tokens + cached + line.usage.cache_creation_input_tokens;
  put({
    id: "chatcmpl-" + session,
    object: "chat.completion.chunk",
    created: 0,
    model,
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: line.usage.output_tokens,
      total_tokens: prompt + line.usage.output_tokens,
      prompt_tokens_details: { cached_tokens: cached },
    },
    metadata: {
      summary: "true",
      outcome: line.subtype,
      is_error: String(line.is_error),
      num_turns: String(line.num_turns),
      duration_ms: String(line.duration_ms),
    },
  });
  calls = 0;
  annotations = 0;
}

function flush() {
  const bytes = Buffer.from(out);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  out = "";
}

const source = process.argv[2] === undefined ? 0 : openSync(process.argv[2]);
const buffer = Buffer.allocUnsafe(1 << 18);
const decoder = new StringDecoder("utf8");
let rest = "";
for (let size; (size = readSync(source, buffer)) > 0; ) {
  const lines = (rest + decoder.write(buffer.subarray(0, size))).split("\n");
  rest = lines.pop();
  for (const line of lines) translate(JSON.parse(line));
  flush();
}
if (rest) translate(JSON.parse(rest));
flush();
