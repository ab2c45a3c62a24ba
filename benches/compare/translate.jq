# The same translation as translate.py, which says what it is: jq -cn -f translate.jq FILE

def chunk($s; $delta; $finish):
  {id: ("chatcmpl-" + $s.session), object: "chat.completion.chunk", created: 0, model: $s.model,
   choices: [{index: 0, delta: $delta, finish_reason: $finish}]};

def finish:
  {end_turn: "stop", stop_sequence: "stop", tool_use: "tool_calls", max_tokens: "length"}[. // ""] // "stop";

# A content block's index, as a key.
def place: tostring;

def event($e):
  if $e.type == "content_block_delta" then
    . as $s
    | $e.delta.type as $kind
    | if $kind == "text_delta" then .out = [chunk($s; {content: $e.delta.text}; null)]
      elif $kind == "thinking_delta" then
        .out = [chunk($s; {reasoning_content: $e.delta.thinking, annotations: [{type: "x-qwen-thought", subject: "",
          description: $e.delta.thinking, index: $s.places[$e.index | place]}]}; null)]
      elif $kind == "input_json_delta" and $e.delta.partial_json != "" then
        .pieces += [$e.delta.partial_json] | .out = []
      else .out = [] end
  elif $e.type == "content_block_start" then
    if $e.content_block.type == "thinking" then
      .places[$e.index | place] = .annotations | .annotations += 1 | .out = []
    elif $e.content_block.type == "tool_use" then
      . as $s
      | .out = [chunk($s; {tool_calls: [{index: $s.calls, id: $e.content_block.id, type: "function",
          function: {name: $e.content_block.name, arguments: ""}}]}; null)]
      | .places[$e.index | place] = .calls
      | .calls += 1
    else .out = [] end
  elif $e.type == "message_start" then
    .model = $e.message.model | .places = {} | .out = [chunk(.; {role: "assistant"}; null)]
  elif $e.type == "message_delta" then
    .out = [chunk(.; {}; $e.delta.stop_reason | finish)]
  else .out = [] end;

def init($line):
  .model = $line.model
  | if .session == $line.session_id then .out = []
    else
      .session = $line.session_id
      | .out = [chunk(.; {role: "assistant"}; null) + {metadata: {protocol_version: "1", output_format: "stream-chunk-json",
          cwd: $line.cwd, tools: ($line.tools | join(" ")), permission_mode: $line.permissionMode,
          agent_version: $line.claude_code_version}}]
    end;

# The arguments of a call, when they are known for good: the program may have changed what was streamed.
def arguments($block):
  if $block.type != "tool_use" then .out = []
  else
    . as $s
    | (if .pieces != [] and (.pieces | add | fromjson) == $block.input then .pieces else [$block.input | tojson] end) as $pieces
    | .out = [$pieces[] | chunk($s; {tool_calls: [{index: ($s.calls - 1), function: {arguments: .}}]}; null)]
    | .pieces = []
  end;

def results($line):
  reduce ($line.message.content | arrays | .[] | select(.type == "tool_result")) as $block (.out = [];
    (if $block.content | type == "string" then $block.content
     else [$block.content[] | select(.type == "text") | .text] | join("") end) as $text
    | .out += [chunk(.; {annotations: [{type: "x-qwen-tool-display", tool_call_id: $block.tool_use_id, session_id: .session,
        status: (if $block.is_error then "error" else "success" end), result_display: {kind: "string", text: $text},
        index: .annotations}]}; null)]
    | .annotations += 1);

def result($line):
  ($line.usage | .input_tokens + .cache_read_input_tokens + .cache_creation_input_tokens) as $prompt
  | .out = [chunk(.; {}; null) + {choices: [],
      usage: {prompt_tokens: $prompt, completion_tokens: $line.usage.output_tokens, total_tokens: ($prompt + $line.usage.output_tokens),
        prompt_tokens_details: {cached_tokens: $line.usage.cache_read_input_tokens}},
      metadata: {summary: "true", outcome: $line.subtype, is_error: ($line.is_error | tostring),
        num_turns: ($line.num_turns | tostring), duration_ms: ($line.duration_ms | tostring)}}]
  | .calls = 0 | .annotations = 0;

foreach inputs as $line (
  {session: null, model: "unknown", calls: 0, annotations: 0, places: {}, pieces: [], out: []};
  if $line.type == "stream_event" then event($line.event)
  elif $line.type == "assistant" then arguments($line.message.content[0])
  elif $line.type == "user" then results($line)
  elif $line.type == "result" then result($line)
  elif $line.type == "system" and $line.subtype == "init" then init($line)
  else .out = [] end;
  .out[])
