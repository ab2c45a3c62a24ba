"""A model that does what the prompt says. Speaks Anthropic's /v1/messages and OpenAI's /chat/completions, on loopback only.

The last prompt that has steps is the script: each `{{…}}` is one reply, its parts stand between `|`. The replies that the model has
given since then say which step is next; nothing else is remembered, so retries and parallel sessions do no harm.

    think TEXT · say TEXT · shell COMMAND · write PATH TEXT · read PATH · call NAME {"json":"arguments"}
    slow SECONDS (says a word ten times a second) · fail STATUS TEXT
"""

import http.server
import itertools
import json
import re
import socketserver
import threading
import time

STEP = re.compile(r"\{\{(.*?)\}\}(?!\})", re.S)
NUMBERS = itertools.count(1)
MEANT = {
    "shell": (["Bash", "run_shell_command"], lambda rest: {"command": rest, "description": "run it", "is_background": False}),
    "write": (["Write", "write_file"], lambda rest: dict(zip(("file_path", "content"), rest.split(" ", 1)))),
    "read": (["Read", "read_file"], lambda rest: {"file_path": rest}),
}


def texts(content):
    """The texts of a message. Two prompts in a row are one message with two of them."""
    if isinstance(content, str):
        return [content]
    return [part.get("text") or "" for part in content or [] if isinstance(part, dict)]


def script(messages):
    """The parts of the next reply."""
    given = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            given += 1
        elif message["role"] == "user":
            for text in reversed(texts(message.get("content"))):
                # Two prompts in a row may be one text with an empty line between them.
                steps = next(filter(None, map(STEP.findall, reversed(text.split("\n\n")))), None)
                if steps:
                    step = steps[given] if given < len(steps) else "say The script is over."
                    return [part.strip().partition(" ")[::2] for part in step.split("|")]
    return [("say", "There is no script.")]


def call(word, rest, offered):
    if word == "call":
        name, _, arguments = rest.partition(" ")
        return name, json.loads(arguments or "{}")
    names, arguments = MEANT[word]
    name = next((name for name in names if name in offered), names[0])
    arguments = arguments(rest)
    if name != "run_shell_command":
        arguments.pop("is_background", None)
    return name, arguments


def pieces(text, most=7):
    return [text[at : at + most] for at in range(0, len(text), most)] or [""]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def json(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.json(200, {})

    def do_GET(self):
        if self.path == "/asked":
            return self.json(200, self.server.asked)
        if self.path.endswith("/models"):
            return self.json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        self.json(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "count_tokens" in self.path:
            return self.json(200, {"input_tokens": 10})
        messages = request.get("messages", [])
        parts = script(messages)
        self.server.asked.append({"model": request.get("model"), "said": json.dumps([request.get("system"), *messages], ensure_ascii=False)})
        anthropic = self.path.split("?")[0].endswith("/messages")
        if parts[0][0] == "fail":
            status, _, why = parts[0][1].partition(" ")
            kind = {"401": "authentication_error", "429": "rate_limit_error"}.get(status, "invalid_request_error")
            error = {"type": kind, "message": why}
            return self.json(int(status), {"type": "error", "error": error} if anthropic else {"error": error})
        offered = [tool.get("name") or tool.get("function", {}).get("name") for tool in request.get("tools") or []]
        reply = Anthropic(self, request) if anthropic else OpenAi(self, request)
        try:
            reply.begin()
            for word, rest in parts:
                if word in ("say", "think"):
                    reply.text(word, pieces(rest))
                elif word == "slow":
                    reply.text("say", slowly(float(rest)))
                else:
                    reply.call(f"call_{next(NUMBERS):06d}", *call(word, rest, offered))
            reply.end()
        except OSError:
            self.close_connection = True


def slowly(seconds):
    for n in range(int(seconds * 10)):
        yield f"word {n} "
        time.sleep(0.1)


class Stream:
    """One reply: as events when the caller wants a stream, else as one object."""

    def __init__(self, handler, request):
        self.handler = handler
        self.streams = request.get("stream")
        self.model = request.get("model") or "scripted"
        self.id = f"reply_{next(NUMBERS):06d}"
        self.calls = 0

    def open(self):
        if self.streams:
            self.handler.send_response(200)
            self.handler.send_header("content-type", "text/event-stream")
            self.handler.send_header("transfer-encoding", "chunked")
            self.handler.end_headers()

    def put(self, text):
        if self.streams:
            data = text.encode()
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.handler.wfile.flush()

    def close(self, whole):
        if self.streams:
            self.handler.wfile.write(b"0\r\n\r\n")
            self.handler.wfile.flush()
        else:
            self.handler.json(200, whole)


class Anthropic(Stream):
    def event(self, value):
        self.put(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n")

    def message(self, content, stop):
        usage = {"input_tokens": 10, "output_tokens": 5}
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
                "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def begin(self):
        self.blocks = []
        self.open()
        self.event({"type": "message_start", "message": self.message([], None)})

    def block(self, start, deltas):
        index = len(self.blocks)
        self.blocks.append(start)
        self.event({"type": "content_block_start", "index": index, "content_block": dict(start)})
        for kind, member, piece in deltas:
            self.event({"type": "content_block_delta", "index": index, "delta": {"type": kind, member: piece}})
            if member in start and isinstance(start[member], str):
                start[member] += piece
        self.event({"type": "content_block_stop", "index": index})

    def text(self, word, parts):
        if word == "say":
            return self.block({"type": "text", "text": ""}, (("text_delta", "text", piece) for piece in parts))
        deltas = [("thinking_delta", "thinking", piece) for piece in parts] + [("signature_delta", "signature", "signed")]
        self.block({"type": "thinking", "thinking": "", "signature": ""}, deltas)

    def call(self, id, name, arguments):
        self.calls += 1
        deltas = [("input_json_delta", "partial_json", piece) for piece in pieces(json.dumps(arguments))]
        self.block({"type": "tool_use", "id": id, "name": name, "input": {}}, deltas)
        self.blocks[-1]["input"] = arguments

    def end(self):
        stop = "tool_use" if self.calls else "end_turn"
        self.event({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}})
        self.event({"type": "message_stop"})
        self.close(self.message(self.blocks, stop))


class OpenAi(Stream):
    def chunk(self, delta, finish=None, **more):
        head = {"id": self.id, "object": "chat.completion.chunk", "created": 1_790_000_000, "model": self.model}
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        self.put(f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n")

    def begin(self):
        self.whole = {"role": "assistant", "content": ""}
        self.open()
        self.chunk({"role": "assistant", "content": ""})

    def text(self, word, parts):
        member = "content" if word == "say" else "reasoning_content"
        for piece in parts:
            self.chunk({member: piece})
            self.whole[member] = self.whole.get(member, "") + piece

    def call(self, id, name, arguments):
        text = json.dumps(arguments)
        self.chunk({"tool_calls": [{"index": self.calls, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]})
        for piece in pieces(text):
            self.chunk({"tool_calls": [{"index": self.calls, "function": {"arguments": piece}}]})
        self.calls += 1
        whole = {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
        self.whole.setdefault("tool_calls", []).append(whole)

    def end(self):
        finish = "tool_calls" if self.calls else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        self.chunk({}, finish)
        self.chunk(None, usage=usage)
        self.put("data: [DONE]\n\n")
        choices = [{"index": 0, "message": self.whole, "finish_reason": finish}]
        self.close({"id": self.id, "object": "chat.completion", "created": 1_790_000_000, "model": self.model, "choices": choices, "usage": usage})


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    asked = []


def start():
    """Serves from a thread; returns the address."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
