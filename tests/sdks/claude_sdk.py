"""claude_sdk.py demo|replay|agent|agent+own: the Claude Agent SDK for Python, as it is, in front of us as `claude`.

TEST_CLI is our program, TEST_BACKEND who answers, TEST_GOLDEN the folder of recorded logs. One line a scenario; exit code 1 if one failed.
"""

import asyncio
import json
import os
import re
import sys
import time
import urllib.request

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

CLI, BACKEND, GOLDEN = (os.environ.get(name, "") for name in ("TEST_CLI", "TEST_BACKEND", "TEST_GOLDEN"))
WORKSPACE = os.environ["WORKSPACE"]
IS_QWEN = BACKEND.startswith("cli:qwen")
SCENARIOS = {"demo": [], "replay": [], "agent": [], "own": []}


def scenario(*groups):
    def add(function):
        for group in groups:
            SCENARIOS[group].append(function)
        return function

    return add


def options(backend=None, **more):
    more.setdefault("setting_sources", [])
    return ClaudeAgentOptions(cli_path=CLI, cwd=WORKSPACE, env={"AGENTGLOT_BACKEND": backend or BACKEND}, **more)


def log(name):
    return f"replay:{GOLDEN}/claude/{name}.out.jsonl"


def same(got, wanted, what):
    assert got == wanted, f"{what}: {got!r} is not {wanted!r}"


async def ask(prompt, **more):
    return [message async for message in query(prompt=prompt, options=options(**more))]


async def turn(client, prompt):
    await client.query(prompt)
    return [message async for message in client.receive_response()]


def of(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


def blocks(messages, kind):
    return [b for m in messages if isinstance(m, (AssistantMessage, UserMessage)) and isinstance(m.content, list) for b in m.content if isinstance(b, kind)]


def said(messages):
    return "".join(b.text for b in blocks(of(messages, AssistantMessage), TextBlock))


def result(messages, text=None):
    (only,) = of(messages, ResultMessage)
    if text is not None:
        assert not only.is_error, f"{only.subtype}: {only.result or only.errors}"
        same(only.result, text, "the result")
    return only


def text_of(block):
    return block.content if isinstance(block.content, str) else "".join(part.get("text", "") for part in block.content or [])


def calls(messages):
    """The calls, and the results by their ids; each call has one."""
    uses, results = blocks(messages, ToolUseBlock), blocks(messages, ToolResultBlock)
    same(sorted(b.tool_use_id for b in results), sorted(b.id for b in uses), "the results' ids")
    return uses, {b.tool_use_id: b for b in results}


def init(messages):
    return next(m.data for m in of(messages, SystemMessage) if m.subtype == "init")


def deltas(messages):
    return [m.event["delta"] for m in of(messages, StreamEvent) if m.event["type"] == "content_block_delta"]


def file(name):
    with open(os.path.join(WORKSPACE, name)) as opened:
        return opened.read()


def asked_of_model():
    with urllib.request.urlopen(os.environ["MODEL_URL"] + "/asked") as answer:
        return json.load(answer)


@scenario("demo", "agent")
async def the_version_is_one_that_the_sdk_takes():
    process = await asyncio.create_subprocess_exec(CLI, "-v", stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    major = re.match(rb"(\d+)\.\d+\.\d+ ", out)
    assert process.returncode == 0 and major and int(major[1]) >= 2, out


@scenario("demo", "agent")
async def initialize_tells_what_there_is():
    async with ClaudeSDKClient(options()) as client:
        info = await client.get_server_info()
    missing = {"commands", "agents", "output_style", "available_output_styles", "models", "account"} - set(info or {})
    assert not missing, missing


@scenario("demo")
async def the_demo_asks_for_leave_and_goes_on():
    asked = []

    async def leave(name, arguments, context):
        asked.append((name, arguments["content"], context.tool_use_id))
        return PermissionResultAllow()

    async with ClaudeSDKClient(options(can_use_tool=leave, include_partial_messages=True)) as client:
        first = await turn(client, "Show me.")
        second = await turn(client, "And a subagent?")
        third = await turn(client, "And an error?")
    uses, results = calls(first)
    same(asked, [("Write", "Hello.\n", uses[0].id)], "what was asked")
    assert not results[uses[0].id].is_error
    same("".join(d.get("text", "") for d in deltas(first)), said(first), "the deltas of the text")
    same("".join(d.get("thinking", "") for d in deltas(first)), blocks(first, ThinkingBlock)[0].thinking, "those of the thinking")
    assert any(m.parent_tool_use_id for m in of(second, AssistantMessage)), "the subagent does not show"
    assert result(third).is_error
    same(len({result(messages).session_id for messages in (first, second, third)}), 1, "the number of sessions")


@scenario("demo")
async def the_demo_takes_no():
    async with ClaudeSDKClient(options(can_use_tool=no)) as client:
        messages = await turn(client, "Show me.")
    uses, results = calls(messages)
    assert results[uses[0].id].is_error
    result(messages, "Nothing was written.")


async def no(name, arguments, context):
    return PermissionResultDeny(message="never ever")


@scenario("demo")
async def a_line_that_is_no_json_ends_it():
    argv = ("-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(CLI, *argv, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, "AGENTGLOT_BACKEND": "demo"})
    out, err = await process.communicate(b"nonsense\n")
    same((process.returncode, out), (1, b""), "exit code and output")
    assert err.strip()


@scenario("replay")
async def recorded_answers_come_as_they_were():
    for name, text in (("cli_think", "The answer is 4."), ("cli_read", "The file says hello."), ("cli_parallel_partial", "All three done.")):
        messages = await ask("hello", backend=log(name))
        result(messages, text)
        calls(messages)
        same(init(messages)["cwd"], os.path.realpath(WORKSPACE), f"{name}: the folder")
        same(len({m.session_id for m in of(messages, AssistantMessage)}), 1, f"{name}: the number of sessions")


@scenario("replay")
async def recorded_deltas_make_the_recorded_text():
    messages = await ask("hello", backend=log("cli_think_partial"), include_partial_messages=True)
    same("".join(d.get("text", "") for d in deltas(messages)), said(messages), "the deltas")
    assert not of(await ask("hello", backend=log("cli_think_partial")), StreamEvent), "deltas without being asked for"


@scenario("replay")
async def recorded_questions_are_asked_again():
    asked = []

    async def leave(name, arguments, context):
        asked.append(name)
        return PermissionResultAllow()

    async with ClaudeSDKClient(options(log("sdk_can_use_tool_allow"), can_use_tool=leave)) as client:
        result(await turn(client, "go"), "Permission flow finished.")
    same(asked, ["Write"], "what was asked")


@scenario("replay")
async def recorded_failures_raise():
    messages, raised = [], None
    try:
        async for message in query(prompt="hello", options=options(log("cli_e400"))):
            messages.append(message)
    except Exception as error:
        raised = error
    assert result(messages).is_error and raised is not None, "no failure"
    same(result(messages).api_error_status, 400, "the status")


@scenario("replay")
async def logs_of_other_agents_answer_too():
    for path in ("qwen-code/plain_text_partial.out.jsonl", "qwen-code/unicode.out.jsonl", "cursor/partial_shell.jsonl"):
        messages = await ask("hello", backend=f"replay:{GOLDEN}/{path}", include_partial_messages=True)
        assert said(messages) and not result(messages).is_error, path
        same("".join(d.get("text", "") for d in deltas(messages)), said(messages), f"{path}: the deltas")
        calls(messages)


@scenario("agent")
async def a_text():
    messages = await ask("{{think Four, I think. | say It is 4. ✓ 👩‍👩‍👧}}")
    result(messages, "It is 4. ✓ 👩‍👩‍👧")
    same(said(messages), "It is 4. ✓ 👩‍👩‍👧", "the text")
    same("".join(b.thinking for b in blocks(messages, ThinkingBlock)), "Four, I think.", "the thinking")


@scenario("agent")
async def a_long_text_comes_whole():
    text = "0123456789 lorem ipsum\n" * 6000
    result(await ask("{{say " + text + "}}"), text.strip())


@scenario("agent")
async def partial_messages():
    messages = await ask("{{think Four, I think. | say It is 4, of course.}}", include_partial_messages=True)
    same("".join(d.get("text", "") for d in deltas(messages)), "It is 4, of course.", "the deltas of the text")
    same("".join(d.get("thinking", "") for d in deltas(messages)), "Four, I think.", "those of the thinking")
    kinds = [m.event["type"] for m in of(messages, StreamEvent) if m.event["type"] != "ping"]
    same((kinds[0], kinds[-1], kinds.count("content_block_start")), ("message_start", "message_stop", 2), "the events")
    result(messages, "It is 4, of course.")


@scenario("agent")
async def a_tool_that_is_allowed_runs():
    # Over Qwen Code a result sometimes lacks what a command printed right before it ended.
    messages = await ask("{{shell echo from-the-shell && sleep 0.5}} {{say It ran.}}", allowed_tools=["Bash"])
    uses, results = calls(messages)
    same([b.name for b in uses], ["Bash"], "the calls")
    said, failed = text_of(results[uses[0].id]), results[uses[0].id].is_error
    assert "from-the-shell" in said and not failed, f"{said!r}, {failed}"
    same(result(messages, "It ran.").num_turns, 2, "num_turns")


async def write(answer, name, **more):
    asked = []

    async def leave(tool_name, arguments, context):
        asked.append((tool_name, arguments.get("content"), context.tool_use_id))
        return answer(arguments)

    async with ClaudeSDKClient(options(can_use_tool=leave, **more)) as client:
        messages = await turn(client, "{{write %s/%s original}} {{say Done.}}" % (WORKSPACE, name))
    uses, results = calls(messages)
    same(asked, [("Write", "original", uses[0].id)], "what was asked")
    return messages, results[uses[0].id]


@scenario("agent")
async def leave_is_asked_and_given():
    messages, written = await write(lambda arguments: PermissionResultAllow(), "given")
    same(file("given").strip(), "original", "the file")
    assert not written.is_error
    same(result(messages, "Done.").permission_denials, [], "the denials")


@scenario("agent")
async def leave_is_asked_and_refused():
    messages, written = await write(lambda arguments: PermissionResultDeny(message="never ever"), "refused")
    assert not os.path.exists(os.path.join(WORKSPACE, "refused")), "it was written all the same"
    assert written.is_error and "never ever" in text_of(written), text_of(written)
    same(len(result(messages, "Done.").permission_denials), 1, "the denials")


@scenario("agent")
async def leave_is_given_for_other_arguments():
    messages, _ = await write(lambda arguments: PermissionResultAllow(updated_input={**arguments, "content": "changed"}), "changed")
    same(file("changed").strip(), "changed", "the file")
    result(messages, "Done.")


@scenario("agent")
async def a_refusal_may_stop_the_turn():
    messages, _ = await write(lambda arguments: PermissionResultDeny(message="stop", interrupt=True), "stopped")
    same(result(messages).subtype, "error_during_execution", "the subtype")


@scenario("agent")
async def hooks_are_called():
    heard = []

    async def hook(told, call, context):
        heard.append((told["hook_event_name"], told.get("tool_name"), bool(told.get("session_id"))))
        return {}

    hooks = {event: [HookMatcher(hooks=[hook])] for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")}
    async with ClaudeSDKClient(options(allowed_tools=["Bash"], hooks=hooks)) as client:
        result(await turn(client, "{{shell echo hooked}} {{say Done.}}"), "Done.")
    wanted = [("UserPromptSubmit", None), ("PreToolUse", "Bash"), ("PostToolUse", "Bash"), ("Stop", None)]
    same(heard, [(event, name, True) for event, name in wanted], "the hooks")


@scenario("agent")
async def a_hook_may_refuse():
    async def hook(told, call, context):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the hook minds"}}

    async with ClaudeSDKClient(options(allowed_tools=["Bash"], hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]})) as client:
        messages = await turn(client, "{{shell echo hooked}} {{say Done.}}")
    uses, results = calls(messages)
    assert results[uses[0].id].is_error and "the hook minds" in text_of(results[uses[0].id])


@scenario("agent")
async def what_a_hook_replaces_is_never_run():
    async def hook(told, call, context):
        changed = {**told["tool_input"], "command": "echo replaced"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": changed}}

    async with ClaudeSDKClient(options(allowed_tools=["Bash"], hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]})) as client:
        messages = await turn(client, "{{shell touch %s/original}} {{say Done.}}" % WORKSPACE)
    uses, results = calls(messages)
    got = results[uses[0].id]
    assert not os.path.exists(os.path.join(WORKSPACE, "original")), "the original command ran"
    # Qwen Code has no way to run what the hook wants; it is told so.
    assert "replaced" in text_of(got) if not IS_QWEN else got.is_error and "the hook changed them" in text_of(got), text_of(got)


@scenario("agent")
async def a_tool_of_the_hosts_own():
    heard = []

    @tool("twice", "Doubles a number", {"n": float})
    async def twice(arguments):
        heard.append(arguments)
        return {"content": [{"type": "text", "text": f"twice is {arguments['n'] * 2}"}]}

    server = create_sdk_mcp_server("maths", "1.0.0", tools=[twice])
    async with ClaudeSDKClient(options(mcp_servers={"maths": server}, allowed_tools=["mcp__maths__twice"])) as client:
        messages = await turn(client, '{{call mcp__maths__twice {"n": 21}}} {{say Forty-two.}}')
    uses, results = calls(messages)
    same((len(heard), heard[0]["n"], uses[0].name), (1, 21, "mcp__maths__twice"), "the call")
    assert "42" in text_of(results[uses[0].id]), text_of(results[uses[0].id])
    assert {"name": "maths", "status": "connected"}.items() <= next(s for s in init(messages)["mcp_servers"] if s["name"] == "maths").items()
    result(messages, "Forty-two.")


@scenario("agent")
async def an_interrupt_ends_the_turn_and_not_the_session():
    async with ClaudeSDKClient(options(include_partial_messages=True)) as client:
        await client.query("{{slow 30}}")
        messages, since = [], None
        async for message in client.receive_response():
            messages.append(message)
            if since is None and isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                since = time.monotonic()
                await client.interrupt()
        assert since is not None and time.monotonic() - since < 10, "it took too long"
        stopped = result(messages)
        same((stopped.subtype, stopped.terminal_reason), ("error_during_execution", "aborted_streaming"), "the outcome")
        result(await turn(client, "{{say Still here.}}"), "Still here.")


@scenario("agent")
async def the_model_changes():
    models = ("claude-sonnet-4-5", "claude-haiku-4-5")
    async with ClaudeSDKClient(options(model=models[0])) as client:
        first = await turn(client, "{{say This is one.}}")
        await client.set_model(models[1])
        second = await turn(client, "{{say This is two.}}")
    for messages, model, text in ((first, models[0], "This is one."), (second, models[1], "This is two.")):
        result(messages, text)
        same(of(messages, AssistantMessage)[0].model, model, "the model of the answer")
        asked = [entry["model"] for entry in asked_of_model() if text in entry["said"]]
        assert asked and asked[0] == model, asked


@scenario("agent")
async def the_permission_mode_changes():
    asked = []

    async def leave(name, arguments, context):
        asked.append(name)
        return PermissionResultDeny(message="no")

    async with ClaudeSDKClient(options(can_use_tool=leave)) as client:
        await turn(client, "{{write %s/mode original}} {{say One.}}" % WORKSPACE)
        await client.set_permission_mode("acceptEdits")
        messages = await turn(client, "{{write %s/mode original}} {{say Two.}}" % WORKSPACE)
    same(asked, ["Write"], "what was asked")
    same(init(messages)["permissionMode"], "acceptEdits", "the mode")
    same(file("mode").strip(), "original", "the file")


@scenario("agent")
async def turns_follow_each_other():
    async with ClaudeSDKClient(options()) as client:
        first = result(await turn(client, "{{say The first answer.}}"), "The first answer.")
        second = result(await turn(client, "{{say The second answer.}}"), "The second answer.")
    same(first.session_id, second.session_id, "the session")
    assert any("The first answer." in entry["said"] and "The second answer." in entry["said"] for entry in asked_of_model()), "no history"


@scenario("agent")
async def a_session_goes_on_later():
    first = result(await ask("{{say Before the break.}}"), "Before the break.")
    second = result(await ask("{{say After the break.}}", resume=first.session_id), "After the break.")
    same(first.session_id, second.session_id, "the session")
    assert any("Before the break." in entry["said"] and "After the break." in entry["said"] for entry in asked_of_model()), "no history"


@scenario("agent")
async def an_error_of_the_model_is_one():
    messages, raised = [], None
    try:
        async for message in query(prompt="{{fail 400 the scripted failure}}", options=options()):
            messages.append(message)
    except Exception as error:
        raised = error
    failed = result(messages)
    assert failed.is_error and "the scripted failure" in failed.result and raised is not None
    same((failed.api_error_status, failed.terminal_reason), (400, "api_error"), "the outcome")
    same(of(messages, AssistantMessage)[-1].model, "<synthetic>", "who says so")


@scenario("agent")
async def a_turn_after_an_error():
    async with ClaudeSDKClient(options()) as client:
        assert result(await turn(client, "{{fail 400 the scripted failure}}")).is_error
        result(await turn(client, "{{say All is well.}}"), "All is well.")


@scenario("agent")
async def rounds_are_limited():
    messages = []
    try:
        async for message in query(prompt="{{shell echo 1}} {{shell echo 2}} {{shell echo 3}} {{say Done.}}", options=options(allowed_tools=["Bash"], max_turns=2)):
            messages.append(message)
    except Exception:
        pass
    same((result(messages).subtype, result(messages).is_error), ("error_max_turns", True), "the outcome")


@scenario("own")
async def hooks_and_agents_of_the_host():
    heard = []

    async def hook(told, call, context):
        heard.append(told["hook_event_name"])
        return {}

    async def leave(name, arguments, context):
        return PermissionResultAllow()

    events = ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "Stop")
    finder = AgentDefinition(description="Finds things", prompt="You are the finder of own-py.", tools=["Read"])
    script = '{{write %s/own-py x}} {{read %s/own-nothing}} {{call Agent {"description": "f", "prompt": "Find.", "subagent_type": "finder"}}} {{say Done.}}'
    more = {"hooks": {event: [HookMatcher(hooks=[hook])] for event in events}, "agents": {"finder": finder}, "can_use_tool": leave, "forward_subagent_text": True}
    async with ClaudeSDKClient(options(**more)) as client:
        messages = await turn(client, script % (WORKSPACE, WORKSPACE))
    same([event for event in events if event not in heard], [], "the hooks that were not called")
    result(messages, "Done.")
    assert "finder" in init(messages)["agents"]
    assert any(m.parent_tool_use_id and any(isinstance(b, TextBlock) for b in m.content) for m in of(messages, AssistantMessage)), "its text does not show"
    assert any("the finder of own-py" in entry["said"] for entry in asked_of_model()), "its prompt did not reach the model"


@scenario("own")
async def leave_may_be_given_for_the_session():
    asked = []

    async def leave(name, arguments, context):
        asked.append(name)
        return PermissionResultAllow(updated_permissions=context.suggestions)

    async with ClaudeSDKClient(options(can_use_tool=leave)) as client:
        messages = await turn(client, "{{write %s/own-1 x}} {{write %s/own-2 x}} {{say Done.}}" % (WORKSPACE, WORKSPACE))
    same(asked, ["Write"], "what was asked")
    result(messages, "Done.")


@scenario("own")
async def sessions_are_gone_on_with_forked_and_cut():
    async with ClaudeSDKClient(options()) as client:
        first = await turn(client, "{{say One of own-cut.}}")
        second = result(await turn(client, "{{say Two of own-cut.}}"), "Two of own-cut.")
    at = of(first, AssistantMessage)[-1].uuid
    forked = result(await ask("{{say Three of own-cut.}}", resume=second.session_id, fork_session=True, resume_session_at=at), "Three of own-cut.")
    assert forked.session_id != second.session_id
    last = next(entry["said"] for entry in asked_of_model() if "{{say Three of own-cut.}}" in entry["said"])
    assert "One of own-cut." in last and "Two of own-cut." not in last, last[:600]
    went = result(await ask("{{say Went on.}}", continue_conversation=True), "Went on.")
    same(went.session_id, forked.session_id, "the session")


@scenario("own")
async def an_answer_in_a_schema():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    messages = await ask('{{call StructuredOutput {"n": 4}}} {{say Done.}}', output_format={"type": "json_schema", "schema": schema})
    same(result(messages).structured_output, {"n": 4}, "the answer")


@scenario("own")
async def money_is_limited():
    messages = []
    try:
        async for message in query(prompt="{{shell echo 1}} {{say Done.}}", options=options(allowed_tools=["Bash"], max_budget_usd=1e-8, model="claude-sonnet-4-5")):
            messages.append(message)
    except Exception:
        pass
    same(result(messages).subtype, "error_max_budget_usd", "the outcome")


@scenario("own")
async def prompts_settings_and_folders():
    here, beside = os.path.join(WORKSPACE, "own-settings"), os.path.join(WORKSPACE, "own-beside")
    os.makedirs(here + "/.claude"), os.makedirs(beside)
    for path, text in ((here + "/CLAUDE.md", "The word of own-py is trout.\n"), (here + "/.claude/settings.json", '{"env": {"OWN_WORD": "kept"}}'), (beside + "/there", "it is there\n")):
        with open(path, "w") as opened:
            opened.write(text)
    more = {"system_prompt": {"type": "preset", "preset": "claude_code", "append": "Say own-append."}, "setting_sources": ["project"], "add_dirs": [beside], "allowed_tools": ["Bash"]}
    mine = options(**more)
    mine.cwd = here
    messages = [message async for message in query(prompt="{{shell echo $OWN_WORD}} {{read %s/there}} {{say Done of own-py.}}" % beside, options=mine)]
    uses, results = calls(messages)
    same([word in text_of(results[b.id]) for b, word in zip(uses, ("kept", "it is there"))], [True, True], "what came")
    said = next(entry["said"] for entry in asked_of_model() if "Done of own-py" in entry["said"])
    assert "The word of own-py is trout." in said and "Say own-append." in said


@scenario("own")
async def files_are_wound_back():
    path = os.path.join(WORKSPACE, "own-rewind")
    with open(path, "w") as opened:
        opened.write("before\n")
    more = {"enable_file_checkpointing": True, "permission_mode": "acceptEdits", "extra_args": {"replay-user-messages": None}}
    async with ClaudeSDKClient(options(**more)) as client:
        messages = await turn(client, "{{read %s}} {{write %s after}} {{say Done.}}" % (path, path))
        same(file("own-rewind").strip(), "after", "the file")
        await client.rewind_files(next(m.uuid for m in of(messages, UserMessage) if m.uuid))
    same(file("own-rewind"), "before\n", "the file")


@scenario("own")
async def what_there_is_is_told():
    async with ClaudeSDKClient(options()) as client:
        assert isinstance((await client.get_mcp_status())["mcpServers"], list)
        result(await turn(client, "{{say Here.}}"), "Here.")
        assert (await client.get_context_usage())["maxTokens"] > 0
        assert "commands" in (await client.get_server_info())


async def main(scenarios):
    failed = 0
    for function in scenarios:
        since, why = time.monotonic(), None
        try:
            await asyncio.wait_for(function(), 90)
        except asyncio.TimeoutError:
            why = "it takes longer than 90 s"
        except BaseException as error:
            why = f"{type(error).__name__}: {error}"[:600]
        failed += why is not None
        print(f"{'FAILED' if why else 'ok'} {function.__name__} ({time.monotonic() - since:.1f} s){' ' + why if why else ''}", flush=True)
    # A coroutine that hangs must not keep the process.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    asyncio.run(main([function for group in sys.argv[1].split("+") for function in SCENARIOS[group]]))
