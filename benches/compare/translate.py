#!/usr/bin/env python3
"""Claude Code stream-json with partial messages to the RFC's stream-chunk-json, as a competent Python program does it.

translate.py [--orjson] [FILE]: reads FILE or stdin, writes stdout. translate.mjs and translate.jq do the same work; run.py
checks that what they write says the same as what agentglot writes. The work is this subset of docs/qwen.md:

  source line                             chunk
  system/init of a new session            delta{role}, metadata: the receipt
  message_start                           delta{role}
  content_block_start, a tool_use         delta{tool_calls[{index,id,type,function{name,arguments:""}}]}
  text_delta                              delta{content}
  thinking_delta                          delta{reasoning_content,annotations[x-qwen-thought]}
  input_json_delta, unless empty          nothing yet
  assistant, a tool_use                   delta{tool_calls[{index,function{arguments}}]}: for each piece held, if together they
                                          say the call's input; else once, with the input
  message_delta                           delta{}, finish_reason
  user, each tool_result                  delta{annotations[x-qwen-tool-display]}
  result                                  choices[], usage, metadata: the summary
  anything else                           nothing

Indices of tool calls and annotations count on through a turn. Tool names and arguments are left alone.
"""
import json
import sys


def encoder(name):
    """(loads, dumps to bytes) of the library called."""
    if name == "--orjson":
        import orjson

        return orjson.loads, orjson.dumps
    compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return json.loads, lambda value: compact(value).encode()


FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class Translation:
    def __init__(self, loads, dumps):
        self.loads = loads
        self.compact = lambda value: dumps(value).decode()
        self.session = None
        self.model = "unknown"
        self.new_turn()

    def new_turn(self):
        self.calls = 0
        self.annotations = 0
        self.places = {}  # content block -> index of its call or of its annotation
        self.pieces = []  # of the arguments of the call that is open

    def chunk(self, delta, finish=None, **more):
        return {
            "id": "chatcmpl-" + (self.session or ""),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            **more,
        }

    def line(self, line):
        """The chunks that a line of the source becomes."""
        kind = line.get("type")
        if kind == "stream_event":
            return self.event(line["event"])
        if kind == "system" and line.get("subtype") == "init":
            return self.init(line)
        if kind == "assistant":
            return self.arguments(line)
        if kind == "user":
            return self.results(line)
        if kind == "result":
            return self.result(line)
        return ()

    def init(self, line):
        self.model = line["model"]
        if line["session_id"] == self.session:
            return ()
        self.session = line["session_id"]
        receipt = {
            "protocol_version": "1",
            "output_format": "stream-chunk-json",
            "cwd": line["cwd"],
            "tools": " ".join(line["tools"]),
            "permission_mode": line["permissionMode"],
            "agent_version": line["claude_code_version"],
        }
        return (self.chunk({"role": "assistant"}, metadata=receipt),)

    def event(self, event):
        kind = event["type"]
        if kind == "content_block_delta":
            return self.delta(event["index"], event["delta"])
        if kind == "content_block_start":
            block = event["content_block"]
            if block["type"] == "thinking":
                self.places[event["index"]] = self.annotations
                self.annotations += 1
            elif block["type"] == "tool_use":
                self.places[event["index"]] = self.calls
                call = {"index": self.calls, "id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": ""}}
                self.calls += 1
                return (self.chunk({"tool_calls": [call]}),)
        elif kind == "message_start":
            self.model = event["message"]["model"]
            self.places.clear()
            return (self.chunk({"role": "assistant"}),)
        elif kind == "message_delta":
            return (self.chunk({}, FINISH.get(event["delta"]["stop_reason"], "stop")),)
        return ()

    def delta(self, block, delta):
        kind = delta["type"]
        if kind == "text_delta":
            return (self.chunk({"content": delta["text"]}),)
        if kind == "thinking_delta":
            text = delta["thinking"]
            thought = {"type": "x-qwen-thought", "subject": "", "description": text, "index": self.places[block]}
            return (self.chunk({"reasoning_content": text, "annotations": [thought]}),)
        if kind == "input_json_delta" and delta["partial_json"]:
            self.pieces.append(delta["partial_json"])
        return ()

    def arguments(self, line):
        """The arguments of a call, when they are known for good: the program may have changed what was streamed."""
        block = line["message"]["content"][0]
        if block["type"] != "tool_use":
            return ()
        pieces, self.pieces = self.pieces, []
        if not pieces or self.loads("".join(pieces)) != block["input"]:
            pieces = [self.compact(block["input"])]
        return [self.chunk({"tool_calls": [{"index": self.calls - 1, "function": {"arguments": piece}}]}) for piece in pieces]

    def results(self, line):
        chunks = []
        blocks = line["message"]["content"]
        for block in blocks if isinstance(blocks, list) else ():
            if block["type"] != "tool_result":
                continue
            content = block["content"]
            if not isinstance(content, str):
                content = "".join(part["text"] for part in content if part["type"] == "text")
            shown = {
                "type": "x-qwen-tool-display",
                "tool_call_id": block["tool_use_id"],
                "session_id": self.session,
                "status": "error" if block.get("is_error") else "success",
                "result_display": {"kind": "string", "text": content},
                "index": self.annotations,
            }
            self.annotations += 1
            chunks.append(self.chunk({"annotations": [shown]}))
        return chunks

    def result(self, line):
        usage = line["usage"]
        cached = usage["cache_read_input_tokens"]
        prompt = usage["input_tokens"] + cached + usage["cache_creation_input_tokens"]
        summary = {
            "summary": "true",
            "outcome": line["subtype"],
            "is_error": "true" if line["is_error"] else "false",
            "num_turns": str(line["num_turns"]),
            "duration_ms": str(line["duration_ms"]),
        }
        chunk = self.chunk({})
        chunk["choices"] = []
        chunk["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": usage["output_tokens"],
            "total_tokens": prompt + usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        chunk["metadata"] = summary
        self.new_turn()
        return (chunk,)


def main(arguments):
    library = arguments.pop(0) if arguments and arguments[0] == "--orjson" else "--json"
    loads, dumps = encoder(library)
    translation = Translation(loads, dumps)
    source = open(arguments[0], "rb") if arguments else sys.stdin.buffer
    write = sys.stdout.buffer.write
    with source:
        for line in source:
            for chunk in translation.line(loads(line)):
                write(dumps(chunk) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
