#!/usr/bin/env python3
"""A host of the Qwen RFC in the standard library alone: python3 rfc_host.py [--script FILE] [PROGRAM [ARGUMENTS of `agentglot run`]]

At a terminal: type a prompt and Enter; `/`, `?` and `@` show hints while you type; y or n answers a question; Ctrl-C or Escape cancels
the turn; Ctrl-D quits. In a script, or lines on stdin: `say TEXT`, `start TEXT` (does not wait), `wait`, `hint TEXT`, `beat`, `cancel`,
`approve`, `deny` (what the agent is answered from now on; at first `deny`)."""
import contextlib, json, os, queue, signal, subprocess, sys, termios, threading, time, tty

BEAT, PATIENCE = float(os.environ.get("HOST_BEAT", 5)), float(os.environ.get("HOST_PATIENCE", 10))  # seconds
class Host:
    def __init__(self, program, arguments, keys):
        self.keys, self.events = keys, queue.Queue()
        self.session, self.busy, self.over, self.policy = "_new", False, False, "deny"
        self.came = {"hint": 0, "beat": 0, "cancel": 0}  # so many answers: a script waits for the next one
        self.calls, self.question, self.typed, self.asked, self.next_beat, self.heard = {}, None, "", 0.0, 0.0, time.monotonic()
        # One JSON object a line; stderr is its log. The new session keeps the terminal's Ctrl-C from it: here that cancels a turn.
        command = [program, "run", "--as", "qwen", *arguments, "--input-format", "stream-json", "--output-format", "stream-chunk-json"]
        self.agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1,
                                      start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()
    def read(self):
        for line in self.agent.stdout:
            self.events.put((self.hear, json.loads(line)))
        self.events.put((self.end, None))
    def end(self, _): self.over = True
    def send(self, **line):
        with contextlib.suppress(BrokenPipeError):  # it has ended, and its stdout says so too
            self.agent.stdin.write(json.dumps(line) + "\n")
    # What the host says. `_new` makes a session, the receipt tells its id; the agent makes a prompt_id if we give none.
    def say(self, text, **more):
        self.busy, parts = True, [{"type": "text", "text": text}] if isinstance(text, str) else text
        confirms = "confirm_shell_commands confirm_action"  # what commands ask, we answer as what tools ask
        self.send(session_id=self.session, input={"origin": "user", "parts": parts}, capabilities=confirms, **more)
    def hint(self, text):  # what could follow? Nothing of it goes into the conversation, and the latest request wins.
        trigger = "slash" if text[:1] in ("/", "?") else "at"
        self.send(type="command_hint_request", session_id=self.session, prompt_id=self.session + "########preview", trigger=trigger,
                  text=text, cursor=len(text), context={"cwd": os.getcwd(), "selected_text": ""})
    def beat(self, _=""): self.send(type="heartbeat_request", session_id=self.session)
    def cancel(self, _=""):  # without a prompt_id: whatever runs
        self.send(type="control/cancel", session_id=self.session, reason="escape")
    def answer(self, behavior):  # `approve` or `deny`, with the request's own id
        self.send(type="control_response", request_id=self.question, response={"subtype": "success", "result": {"behavior": behavior}})
        self.question = None
        print(f"[{behavior}]")
    # What the agent says.
    def hear(self, line):
        kind = line.get("type")
        if kind == "control_request":
            self.control(line["request_id"], line.get("request") or line)  # the RFC's other text has it flat
        elif kind == "result/command_hint" and line["status"] != "loading":  # after `loading` comes another
            self.came["hint"] += 1
            print("\n[hints:", "  ".join(one["label"] for one in line.get("suggestions") or []) or line.get("message") or "none",
                  "]\n> " + self.typed if self.keys else "]\n", end="")
        elif kind == "result/heartbeat":
            self.came["beat"], self.heard = self.came["beat"] + 1, time.monotonic()
        elif kind in ("result/cancel", "x-qwen-session-event"):
            self.came["cancel"] += kind == "result/cancel"
            print(f"\n[{line.get('event') or 'cancel ' + line['status']}: {line.get('message', '')}]")
        elif kind == "result/command":
            result = line["result"]
            print(f"\n[command {result['type']}: {result.get('content') or result.get('prompt') or ''}]")
            # What `@` read goes to the model by itself; what is to be submitted is for us to submit; other commands end here.
            self.busy = line["command"].get("kind") == "at" and result.get("status") != "error"
            if result["type"] in ("submit_prompt", "tool"):  # a tool is the user's own call, which the agent runs for us
                self.say(result.get("parts", []), continuation=True, tool_request=result.get("tool_request"))
            self.over |= result["type"] == "quit"
        elif str(line.get("object")).startswith("chat.completion"):
            self.completion(line, line.get("metadata") or {})
        elif "error" in line:  # a bare error: the program ends
            print(f"\n[fatal {line['error'].get('code')}: {line['error'].get('message')}]")
    def completion(self, line, metadata):
        if "protocol_version" in metadata:  # the receipt, once a session; every line's id is chatcmpl-<session>
            self.session = line["id"].removeprefix("chatcmpl-")
            print(f"[session begins, protocol {metadata['protocol_version']}]")
        for choice, delta in ((one, one.get("delta") or {}) for one in line["choices"]):
            print(delta.get("reasoning_content") or "", delta.get("content") or "", sep="", end="")
            for call in delta.get("tool_calls") or []:  # pieces with one index make one call; the first has the name
                self.calls.setdefault(call["index"], []).extend(call["function"].get(part) or "" for part in ("name", "arguments"))
            for note in delta.get("annotations") or []:
                if note["type"] == "x-qwen-tool-display" and note["status"] in ("success", "error", "canceled"):
                    print(f"\n[tool {note['status']}: {(note.get('result_display') or {}).get('text', '')}]")
            while choice.get("finish_reason") and self.calls:  # a round ends: its calls are whole
                name, *arguments = self.calls.pop(next(iter(self.calls)))
                print(f"\n[call {name} {''.join(arguments)}]")
        if metadata.get("summary") == "true":  # the last line of a turn
            self.busy = False
            why = f"\n[error: {metadata.get('error')}]" if metadata.get("is_error") == "true" else ""
            print(f"{why}\n[turn ends: {metadata.get('outcome')}]")
    def control(self, request_id, request):
        if request["subtype"] not in ("can_use_tool", "confirm_shell_commands", "confirm_action"):
            error = {"message": "this host has none", "retryable": False}
            return self.send(type="control_response", request_id=request_id, response={"subtype": "error", "error": error})
        self.question = request_id
        what = json.dumps(request.get("tool") or request.get("commands") or request.get("prompt"), separators=(",", ":"))
        print(f"\n[may it? {what} ]", "y / n" if self.keys else "")
        if not self.keys:
            self.answer(self.policy)
    # The loop: one thing after the other, and an eye on the signs of life.
    def until(self, done):
        while not done() and not self.over:
            now = time.monotonic()
            if now >= self.next_beat:
                if self.asked > self.heard and now - self.heard > PATIENCE:
                    print("\n[no heartbeat: the agent may be stuck]")
                self.asked, self.next_beat = now, now + BEAT
                self.beat()
            sys.stdout.flush()
            with contextlib.suppress(queue.Empty):
                do, what = self.events.get(timeout=max(0.0, self.next_beat - now))
                do(what)
    def script(self, lines):
        for word, _, text in (line.strip().partition(" ") for line in lines):
            before = self.came.get(word, 0)
            if word in ("approve", "deny"):
                self.policy = word
            elif word in ("say", "start", *self.came):
                getattr(self, word.replace("start", "say"))(text)
                self.until(lambda: word not in self.came or self.came[word] > before)
            if word in ("say", "wait", "cancel"):
                self.until(lambda: not self.busy)
            print(f"[{word} done]")
    def key(self, key):
        if self.question and key in "yn":
            self.answer("approve" if key == "y" else "deny")
        elif key in "\x1b\x03":
            self.cancel()
        elif key == "\x04": self.end(key)
        elif key in "\r\n" and self.typed:
            self.typed = self.say(self.typed) or print() or ""
        elif key in "\x7f\b" or key.isprintable():
            self.typed = self.typed[:-1] if key in "\x7f\b" else self.typed + key
            if self.typed[:1] in ("/", "?") or self.typed.rpartition(" ")[2].startswith("@"):
                self.hint(self.typed)
            print(f"\r\033[K> {self.typed}", end="")
    def terminal(self):
        before, _ = termios.tcgetattr(0), tty.setcbreak(0)
        signal.signal(signal.SIGINT, lambda *_: self.events.put((self.key, "\x03")))
        threading.Thread(target=lambda: [self.events.put((self.key, key)) for key in iter(lambda: sys.stdin.read(1), "")], daemon=True).start()
        self.until(lambda: False)
        termios.tcsetattr(0, termios.TCSADRAIN, before)

def main(words):
    script = open(words[1], encoding="utf-8") if words[:1] == ["--script"] else sys.stdin
    words = words[2:] if script is not sys.stdin else words
    host = Host(words[0] if words else os.environ.get("AGENTGLOT", "agentglot"), words[1:], script is sys.stdin and sys.stdin.isatty())
    host.terminal() if host.keys else host.script(script)
    host.agent.stdin.close()  # the end of its input is the end of the agent
    sys.exit(host.agent.wait())
main(sys.argv[1:])
