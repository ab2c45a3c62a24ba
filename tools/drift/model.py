"""A scripted model on loopback that speaks four APIs: Anthropic Messages, OpenAI chat completions, OpenAI Responses, Gemini.

Which script plays is said by a tag in the prompt, `[[name]]`; which of its steps, by how many replies follow that prompt. So nothing is
kept between requests, and retries and subagents get what belongs to them. A request without a tag (titles, summaries) gets "ok".
"""

import http.server
import itertools
import json
import re
import sys
import threading

TAG = re.compile(r"\[\[([a-z_]+)\]\]")
IDS = itertools.count(1)
FOLDER = "FOLDER"  # stands for the folder that the program works in

# What a script asks for, as each agent's tools are called. The first name that the request offers is used, with the arguments that its
# schema declares.
KINDS = {
    "shell": [
        ("Bash", "run_shell_command", "bash", "shell_command"),
        {"command": "printf 'out\\n'; printf 'err\\n' >&2; exit {exit}", "description": "Print two lines", "is_background": False},
    ],
    "exec": [("exec_command",), {"cmd": "printf 'out\\n'; printf 'err\\n' >&2; exit {exit}"}],
    "read": [
        ("Read", "read_file", "read"),
        {"file_path": FOLDER + "/hello.txt", "absolute_path": FOLDER + "/hello.txt", "filePath": FOLDER + "/hello.txt"},
    ],
    "write": [
        ("Write", "write_file", "write"),
        {"file_path": FOLDER + "/new.txt", "filePath": FOLDER + "/new.txt", "content": "one\ntwo\n"},
    ],
    "edit": [
        ("Edit", "replace", "edit"),
        {
            "file_path": FOLDER + "/hello.txt",
            "filePath": FOLDER + "/hello.txt",
            "old_string": "hello",
            "new_string": "goodbye",
            "oldString": "hello",
            "newString": "goodbye",
            "instruction": "Swap the word",
        },
    ],
    "patch": [("apply_patch",), {"input": "*** Begin Patch\n*** Update File: hello.txt\n@@\n-hello\n+goodbye\n*** End Patch\n"}],
    "heredoc": [
        ("exec_command",),
        {"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: hello.txt\n@@\n-hello\n+goodbye\n*** End Patch\nEOF"},
    ],
    "glob": [("Glob", "glob", "list_directory"), {"pattern": "*.txt", "path": FOLDER, "dir_path": FOLDER}],
    "grep": [("Grep", "grep_search", "grep"), {"pattern": "hello", "path": FOLDER, "dir_path": FOLDER}],
    "plan": [
        ("TodoWrite", "todo_write", "write_todos", "todowrite"),
        {
            "todos": [
                {
                    "id": "1",
                    "content": "look",
                    "description": "look",
                    "activeForm": "Looking",
                    "status": "pending",
                    "priority": "high",
                }
            ]
        },
    ],
    "steps": [("update_plan",), {"plan": [{"step": "look", "status": "in_progress"}], "explanation": "One step."}],
    "agent": [
        ("Agent", "Task", "agent", "task", "invoke_agent", "spawn_agent"),
        {
            "message": "[[inner]] please look",
            "description": "Look around",
            "prompt": "[[inner]] please look",
            "subagent_type": "{agent}",
            "agent_name": "generalist",
            "run_in_background": False,
        },
    ],
    "missing": [
        ("Read", "read_file", "read"),
        {"file_path": FOLDER + "/not-there", "absolute_path": FOLDER + "/not-there", "filePath": FOLDER + "/not-there"},
    ],
    "unknown": [(), {"x": 1}],
}


def said(text, **more):
    return {"text": text, **more}


# Each step is one reply: a thought, a text, calls by kind; or an error of the server.
SCRIPTS = {
    "plain": [said("Hello from the script.")],
    "think": [said("The answer is 4.", thought="Two plus two is four.")],
    "parallel": [said("Three at once.", thought="Look first.", calls=["read", "glob", "grep", "shell", "exec"]), said("All done.")],
    "edit": [said("First a look.", calls=["read"]), said("", calls=["edit", "patch"]), said("", calls=["write"]), said("Changed.")],
    "fails": [said("", calls=["missing", "shell", "exec"], exit=3), said("", calls=["unknown"]), said("It failed.")],
    "plan": [said("", calls=["plan", "steps"]), said("Planned.")],
    "agent": [said("Delegating.", calls=["agent"]), said("It reported.")],
    "inner": [said("Inner look.", thought="Inner thought.", calls=["shell", "exec"]), said("Nothing to see.", calls=["finish"])],
    "handover": [
        said("First a look.", calls=["read", "exec"]),
        said("Now the change.", calls=["edit", "patch", "heredoc"]),
        said("The rest is for another.", calls=["agent"]),
        said("It is changed."),
    ],
    "refused": [{"error": (400, "invalid_request_error", "the script refuses this")}] * 9,
    "overloaded": [{"error": (529, "overloaded_error", "the script is overloaded")}, said("Back again.")],
    "cut": [said("Cut off he", stop="length")],
}
KINDS["finish"] = [("complete_task",), {"result": "Nothing to see.", "response": "Nothing to see."}]


class Asked:
    """A request, in the words of any of the APIs: turns of (role, text), and the tools that are offered with their parameters."""

    def __init__(self, body):
        self.body = body
        self.model = body.get("model") or "scripted"
        self.turns = [(role(one), text_of(one)) for one in body.get("messages") or body.get("contents") or listed(body.get("input"))]
        self.tools, self.spaces = {}, {}
        for tool in body.get("tools") or []:
            for one in tool.get("functionDeclarations") or tool.get("tools") or [tool.get("function") or tool]:
                schema = one.get("parametersJsonSchema") or one.get("parameters") or one.get("input_schema") or {}
                name = one.get("name") or one.get("type")
                self.tools[name] = (schema.get("properties") or {}, one.get("type"))
                if tool.get("type") == "namespace":
                    self.spaces[name] = tool["name"]

    def step(self):
        replies, before = 0, None
        for who, text in reversed(self.turns):
            if who == "model":
                # Items of one reply lie side by side in the Responses API.
                replies += before != "model"
            elif tags := TAG.findall(text):
                script = SCRIPTS.get(tags[-1], [])
                return script[replies] if replies < len(script) else said("(the script is over)")
            before = who
        return said("ok")

    def calls(self, step, folder):
        for kind in step.get("calls", []):
            names, values = KINDS[kind]
            name = next((name for name in names if name in self.tools), None) or ("no_such_tool" if kind == "unknown" else None)
            if name is None:
                continue
            declared, form = self.tools.get(name, (None, None))
            choices = json.dumps((declared or {}).get("subagent_type", {}).get("enum") or [])
            agent = "general" if '"general"' in choices or name == "task" else "general-purpose"
            text = json.dumps({key: value for key, value in values.items() if not declared or key in declared})
            text = text.replace(FOLDER, folder).replace("{exit}", str(step.get("exit", 0))).replace("{agent}", agent)
            yield f"call_{next(IDS):06d}", name, json.loads(text), form


def role(turn):
    if turn.get("role") in ("assistant", "model") or turn.get("type") in ("function_call", "custom_tool_call", "reasoning"):
        return "model"
    return "user" if turn.get("role") == "user" else "other"


def listed(value):
    return [{"role": "user", "content": value}] if isinstance(value, str) else value or []


def text_of(turn):
    parts = turn.get("content") or turn.get("parts") or ""
    if isinstance(parts, str):
        return parts
    return "\n".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def pieces(text, size=12):
    return [text[at : at + size] for at in range(0, len(text), size)]


def anthropic(step, calls, asked):
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 11, "output_tokens": 20}
    stop = {"length": "max_tokens"}.get(step.get("stop")) or ("tool_use" if calls else "end_turn")
    head = {"id": f"msg_{next(IDS):06d}", "type": "message", "role": "assistant", "model": asked.model, "stop_reason": None, "stop_sequence": None}
    blocks = []
    if step.get("thought"):
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, "thinking", step["thought"]))
    if step.get("text"):
        blocks.append(({"type": "text", "text": ""}, "text", step["text"]))
    for ident, name, values, _ in calls:
        blocks.append(({"type": "tool_use", "id": ident, "name": name, "input": {}}, "partial_json", json.dumps(values)))
    if not asked.body.get("stream"):
        content = []
        for start, key, text in blocks:
            content.append({**start, "input": json.loads(text)} if key == "partial_json" else {**start, key: text})
        yield None, {**head, "content": content, "stop_reason": stop, "usage": usage}
        return
    yield "message_start", {"message": {**head, "content": [], "usage": {**usage, "output_tokens": 1}}}
    for at, (start, key, text) in enumerate(blocks):
        yield "content_block_start", {"index": at, "content_block": start}
        kind = {"partial_json": "input_json_delta"}.get(key, key + "_delta")
        for piece in pieces(text):
            yield "content_block_delta", {"index": at, "delta": {"type": kind, key: piece}}
        if key == "thinking":
            yield "content_block_delta", {"index": at, "delta": {"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}}
        yield "content_block_stop", {"index": at}
    yield "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": usage["output_tokens"]}}
    yield "message_stop", {}


def chat(step, calls, asked):
    usage = {"prompt_tokens": 118, "completion_tokens": 20, "total_tokens": 138, "prompt_tokens_details": {"cached_tokens": 11}}
    head = {"id": f"chatcmpl-{next(IDS)}", "created": 1700000000, "model": asked.model}
    finish = step.get("stop") or ("tool_calls" if calls else "stop")
    functions = [
        {"index": at, "id": ident, "type": "function", "function": {"name": name, "arguments": json.dumps(values)}}
        for at, (ident, name, values, _) in enumerate(calls)
    ]
    if not asked.body.get("stream"):
        message = {"role": "assistant", "content": step.get("text") or None}
        if functions:
            message["tool_calls"] = functions
        choice = {"index": 0, "message": message, "finish_reason": finish}
        yield None, {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return
    head["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in pieces(step.get("thought", ""))]
    deltas += [{"content": piece} for piece in pieces(step.get("text", ""))]
    deltas += [{"tool_calls": [function]} for function in functions]
    for delta in deltas:
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield "", {**head, "choices": [], "usage": usage}
    yield "", "[DONE]"


def responses(step, calls, asked):
    ident = f"resp_{next(IDS):06d}"
    usage = {"input_tokens": 118, "output_tokens": 20, "total_tokens": 138}
    usage |= {"input_tokens_details": {"cached_tokens": 11}, "output_tokens_details": {"reasoning_tokens": 5}}
    items = []
    if step.get("thought"):
        items.append({"type": "reasoning", "id": f"rs_{next(IDS)}", "summary": [{"type": "summary_text", "text": step["thought"]}]})
    if step.get("text"):
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        items.append({"type": "message", "id": f"msg_{next(IDS)}", "role": "assistant", "content": content})
    for call, name, values, form in calls:
        if form == "custom":
            items.append({"type": "custom_tool_call", "id": f"ctc_{next(IDS)}", "call_id": call, "name": name, "input": values.get("input", "")})
        else:
            space = {"namespace": asked.spaces[name]} if name in asked.spaces else {}
            items.append({"type": "function_call", "id": f"fc_{next(IDS)}", "call_id": call, "name": name, **space, "arguments": json.dumps(values)})
    yield "response.created", {"response": {"id": ident}}
    for at, item in enumerate(items):
        yield "response.output_item.added", {"output_index": at, "item": {**item, "content": []} if "content" in item else item}
        if item["type"] == "message":
            for piece in pieces(step["text"]):
                yield "response.output_text.delta", {"item_id": item["id"], "output_index": at, "content_index": 0, "delta": piece}
        if item["type"] == "reasoning":
            for piece in pieces(step["thought"]):
                yield "response.reasoning_summary_text.delta", {"item_id": item["id"], "output_index": at, "summary_index": 0, "delta": piece}
        yield "response.output_item.done", {"output_index": at, "item": item}
    done = {"id": ident, "object": "response", "status": "completed", "output": items, "usage": usage}
    if step.get("stop"):
        yield "response.incomplete", {"response": {**done, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}
    else:
        yield "response.completed", {"response": done}


def gemini(step, calls, asked):
    usage = {"promptTokenCount": 118, "candidatesTokenCount": 20, "totalTokenCount": 138, "cachedContentTokenCount": 11, "thoughtsTokenCount": 5}
    parts = [{"text": step["thought"], "thought": True}] if step.get("thought") else []
    parts += [{"text": piece} for piece in pieces(step.get("text", ""))]
    parts += [{"functionCall": {"name": name, "args": values}} for _, name, values, _ in calls]
    finish = {"length": "MAX_TOKENS"}.get(step.get("stop"), "STOP")

    def told(parts, **more):
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, **more}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": asked.model, "responseId": f"r{next(IDS)}"}

    if not asked.body["streams"]:
        yield None, told(parts, finishReason=finish)
        return
    for part in parts:
        yield "", told([part])
    yield "", told([], finishReason=finish)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return self.answer(400, {"error": {"message": "no JSON"}})
        if path.endswith(("count_tokens", ":countTokens")):
            return self.answer(200, {"input_tokens": 100, "totalTokens": 100})
        api = {"messages": anthropic, "completions": chat, "responses": responses}.get(path.rsplit("/", 1)[-1], gemini)
        body["streams"] = "stream" in path
        asked = Asked(body)
        self.server.offered.update(name for name in asked.tools if name)
        step = asked.step()
        self.server.requests.append((asked, step))
        if "error" in step:
            status, kind, message = step["error"]
            return self.answer(status, {"type": "error", "error": {"type": kind, "code": status, "message": message, "status": "FAILED"}})
        told = api(step, list(asked.calls(step, self.server.folder)), asked)
        if api is not responses and not body.get("stream") and not body["streams"]:
            return self.answer(200, next(told)[1])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for kind, value in told:
                if kind:
                    value = {"type": kind, **value}
                text = value if isinstance(value, str) else json.dumps(value)
                self.wfile.write(((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n").encode())
                self.wfile.flush()
        except ConnectionError:
            pass


class Server(http.server.ThreadingHTTPServer):
    """A program may go away in the middle of a request."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(folder):
    """The server, begun; `.port`, in `.offered` the names of all tools that were offered to it, in `.requests` what it was asked and said."""
    server = Server(("127.0.0.1", 0), Handler)
    server.folder, server.offered, server.requests, server.port = folder, set(), [], server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
