"""claude_suite.py own: what the SDK's own end-to-end suite asks of the program, said to our built-in agent in front of the scripted model.

The suite itself needs Anthropic's service and a model that does what a prompt asks for; here each prompt is the model's script. One
line a scenario; exit code 1 if one failed.
"""

import asyncio
import os
import shlex
import tempfile

from claude_agent_sdk import AgentDefinition, list_sessions
from claude_agent_sdk._internal.sessions import _parse_transcript_entries, _read_session_file

import claude_sdk as sdk
from claude_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    ThinkingBlock,
    ask,
    blocks,
    create_sdk_mcp_server,
    deltas,
    init,
    of,
    query,
    result,
    said,
    same,
    tool,
    turn,
)

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def options(cwd=None, **more):
    """As the suite has them: sources of settings, where it names none, are left to the program."""
    made = sdk.options(**{"setting_sources": None, **more})
    made.cwd = cwd or made.cwd
    return made


def folder():
    return os.path.realpath(tempfile.mkdtemp())


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as opened:
        opened.write(text)


async def all_of(prompt, made):
    return [message async for message in query(prompt=prompt, options=made)]


async def both(prompt, made):
    """The same prompt by `query()` and by a client."""
    yield await all_of(prompt, made())
    async with ClaudeSDKClient(options=made()) as client:
        yield await turn(client, prompt)


@scenario
async def an_agent_of_the_hosts_is_told_at_the_beginning():
    agent = AgentDefinition(description="for a test", prompt="You are a test.", tools=["Read"], model="sonnet")
    async with ClaudeSDKClient(options=options(agents={"test-agent": agent}, max_turns=1)) as client:
        assert "test-agent" in init(await turn(client, "{{say Four.}}"))["agents"]


@scenario
async def which_settings_count():
    here = folder()
    put(here + "/.claude/settings.local.json", '{"outputStyle": "local-test-style"}')
    put(here + "/.claude/commands/testcmd.md", "---\ndescription: a test\n---\n\nThis is a test.\n")
    # What no sources at all mean the suite says in words that no version of the program agrees with: one that names none is asked.
    for sources, style, command in ((["user"], "default", False), (["user", "project", "local"], "local-test-style", True), ([], "default", False)):
        async with ClaudeSDKClient(options=options(here, setting_sources=sources, max_turns=1)) as client:
            told = init(await turn(client, "{{say Four.}}"))
        same((told["output_style"], "testcmd" in told["slash_commands"]), (style, command), f"{sources}")


@scenario
async def a_deferred_call_asks_its_hook_again():
    here, asked = folder(), []
    marker = here + "/executed"

    def made(decision, resume=None):
        async def hook(told, call, context):
            asked.append((decision, call))
            told = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "because"}
            return {"hookSpecificOutput": told}

        more = {"setting_sources": [], "tools": ["Bash"], "allowed_tools": ["Bash"], "max_turns": 3}
        made = options(here, hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]}, resume=resume, **more)
        made.env = {**made.env, "CLAUDE_CONFIG_DIR": here + "/config"}
        return made

    first = of(await all_of("{{shell echo resumed > %s}} {{say Done.}}" % shlex.quote(marker), made("defer")), ResultMessage)[-1]
    assert first.stop_reason == "tool_deferred" and first.deferred_tool_use is not None and not os.path.exists(marker), first
    # `query()` of this version closes its input where its stream says nothing, and no hook can be asked then.
    async with ClaudeSDKClient(options=made("deny", first.session_id)) as client:
        messages = [message async for message in client.receive_response()]
    assert not of(messages, ResultMessage)[-1].is_error and not os.path.exists(marker), messages
    assert ("deny", first.deferred_tool_use.id) in asked, asked


@scenario
async def a_run_with_hooks_has_one_result_and_no_states():
    async def hook(told, call, context):
        return {}

    made = options(folder(), tools=[], hooks={"PreToolUse": [HookMatcher(matcher="Write", hooks=[hook])]})
    messages = await all_of("{{say OK.}}", made)
    result(messages, "OK.")
    assert not [m for m in of(messages, SystemMessage) if m.subtype == "session_state_changed"]


@scenario
async def a_turn_behind_a_subagent_in_the_background_is_served():
    asked, here = [], folder()

    async def hook(told, call, context):
        asked.append(told["tool_name"])
        return {}

    worker = AgentDefinition(description="Answers with one word.", prompt="Say DONE.", tools=[], model="haiku")
    made = options(
        here, tools=["Agent", "Write"], agents={"worker": worker}, permission_mode="acceptEdits", hooks={"PreToolUse": [HookMatcher(matcher="Write", hooks=[hook])]}
    )
    call = '{"subagent_type": "worker", "description": "say done", "prompt": "((say DONE))", "run_in_background": true}'
    messages = await all_of("{{call Agent %s}} {{say LAUNCHED}} {{write %s/out DONE}} {{say FINISHED}}" % (call, here), made)
    results = of(messages, ResultMessage)
    assert len(results) >= 2 and not any(r.is_error for r in results), results
    same((asked, os.path.exists(here + "/out")), (["Write"], True), "the hook and the file")


@scenario
async def the_words_of_a_models_error_reach_the_host():
    messages, raised = [], None
    try:
        async for message in query(prompt="{{fail 404 no such model}}", options=options(folder(), model="claude-not-a-real-model", max_turns=1)):
            messages.append(message)
    except Exception as error:
        raised = str(error)
    told = result(messages)
    same((told.is_error, told.subtype), (True, "success"), "the result")
    assert told.result and raised.startswith("Claude Code returned an error result: ") and told.result in raised, (told, raised)


@scenario
async def every_kind_of_hook_is_heard():
    heard = []

    async def hook(told, call, context):
        heard.append(told)
        return {"hookSpecificOutput": {"hookEventName": told["hook_event_name"], "additionalContext": "own-context"}}

    events = ("SessionStart", "Notification", "PreToolUse", "PostToolUse")
    matchers = {event: [HookMatcher(matcher="Bash" if "Tool" in event else None, hooks=[hook])] for event in events}
    async with ClaudeSDKClient(options=options(allowed_tools=["Bash"], hooks=matchers)) as client:
        result(await turn(client, "{{shell echo multi-hook}} {{say Done.}}"), "Done.")
    by_name = {told["hook_event_name"]: told for told in heard}
    assert by_name["PreToolUse"]["tool_use_id"] and by_name["PostToolUse"]["tool_use_id"], heard
    assert all(told.get("source") for told in heard if told["hook_event_name"] == "SessionStart"), heard
    assert all(told.get("notification_type") for told in heard if told["hook_event_name"] == "Notification"), heard


@scenario
async def pieces_with_thinking():
    async with ClaudeSDKClient(options=options(include_partial_messages=True, model="claude-sonnet-4-5", max_turns=2)) as client:
        messages = await turn(client, "{{think Adding 2 and 2 gives four. | say It is 4.}}")
    assert isinstance(messages[0], SystemMessage) and messages[0].subtype == "init", messages[:2]
    kinds = {m.event["type"] for m in of(messages, StreamEvent)}
    wanted = {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_stop"}
    assert wanted <= kinds, kinds
    thought = "".join(d.get("thinking", "") for d in deltas(messages))
    assert len(thought) > 10 and "2" in thought and blocks(messages, ThinkingBlock), thought
    assert isinstance(messages[-1], ResultMessage) and messages[-1].subtype == "success", messages[-1]


@scenario
async def members_that_the_sdk_reads():
    for pieces in (False, True):
        async with ClaudeSDKClient(options=options(model="claude-sonnet-4-5", max_turns=1, include_partial_messages=pieces)) as client:
            messages = await turn(client, "{{say hi}}")
        message, end = of(messages, AssistantMessage)[0], result(messages)
        assert "claude" in message.model and message.message_id and message.session_id and message.uuid and end.uuid, message
        assert message.usage["input_tokens"] >= 0 and message.usage["output_tokens"] >= 0, message.usage
        assert any("claude" in name for name in end.model_usage) and end.permission_denials == [], end
        assert all({"inputTokens", "outputTokens", "costUSD"} <= set(used) for used in end.model_usage.values()), end.model_usage
        cost = sum(used["costUSD"] for used in end.model_usage.values())
        assert end.total_cost_usd is None or abs(end.total_cost_usd - cost) < 0.0001, end
        same(bool(of(messages, StreamEvent)), pieces, "pieces")


@scenario
async def a_file_in_the_systems_folder_that_the_host_allows():
    asked, path = [], os.path.join(folder(), "allowed.txt")

    async def leave(name, arguments, context):
        asked.append(name)
        return PermissionResultAllow()

    async with ClaudeSDKClient(options=options(can_use_tool=leave)) as client:
        await turn(client, "{{write %s hello world}} {{say Done.}}" % path)
    same((asked, os.path.exists(path)), (["Write"], True), "what was asked, and the file")


@scenario
async def who_answers_what_is_asked():
    for by_host, flags in ((True, {}), (False, {"permission-prompts": "none"})):
        asked, here = [], folder()

        async def leave(name, arguments, context):
            asked.append(name)
            return PermissionResultAllow()

        more = {"tools": ["Write"], "permission_mode": "default", "setting_sources": [], "max_turns": 3}
        made = options(here, can_use_tool=leave, extra_args={"strict-mcp-config": None, **flags}, **more)
        async with ClaudeSDKClient(options=made) as client:
            messages = await turn(client, "{{write %s/out.txt hi}} {{say DENIED or not.}}" % here)
        assert not result(messages).is_error, messages
        same((asked, os.path.exists(here + "/out.txt")), (["Write"] if by_host else [], by_host), f"{flags}")


@scenario
async def sessions_are_kept_unless_nobody_wants_it():
    for kept, flags in ((True, {}), (False, {"no-session-persistence": None})):
        here = folder()
        more = {"tools": [], "setting_sources": [], "max_turns": 1, "extra_args": {"strict-mcp-config": None, **flags}}
        async for messages in both("{{say OK}}", lambda: options(here, **more)):
            listed = [session.session_id for session in list_sessions(directory=here)]
            same(result(messages, "OK").session_id in listed, kept, f"{flags}")


@scenario
async def a_path_in_a_prompt_is_read_unless_it_is_verbatim():
    for verbatim in (False, True):
        base = folder()
        secret, here = base + "/outside/secret.txt", base + "/cwd"
        os.makedirs(here)
        put(secret, "The marker is MARKER-own.\n")
        more = {"verbatim_prompts": verbatim, "tools": [], "setting_sources": [], "max_turns": 1, "extra_args": {"strict-mcp-config": None}}
        async for messages in both("{{say UNKNOWN}} @%s" % secret, lambda: options(here, **more)):
            text = _read_session_file(result(messages).session_id, here)
            attached = [e["attachment"] for e in _parse_transcript_entries(text) if e["type"] == "attachment" and e["attachment"].get("type") == "file"]
            same("MARKER-own" in str(attached), not verbatim, f"verbatim {verbatim}")


@scenario
async def tools_of_the_hosts_and_who_may_call_them():
    for allowed, denied, ran in (
        (["mcp__own__echo", "mcp__own__greet"], [], ["echo", "greet"]),
        (["mcp__own__greet"], ["mcp__own__echo"], ["greet"]),
        ([], [], []),
    ):
        heard = []

        @tool("echo", "Echoes", {"text": str})
        async def echo(arguments):
            heard.append("echo")
            return {"content": [{"type": "text", "text": arguments["text"]}]}

        @tool("greet", "Greets", {"name": str})
        async def greet(arguments):
            heard.append("greet")
            return {"content": [{"type": "text", "text": "Hello, " + arguments["name"]}]}

        def made():
            server = create_sdk_mcp_server("own", "1.0.0", tools=[echo, greet])
            return options(mcp_servers={"own": server}, allowed_tools=allowed, disallowed_tools=denied)

        script = '{{call mcp__own__echo {"text": "t"}}} {{call mcp__own__greet {"name": "Bob"}}} {{say Done.}}'
        async for messages in both(script, made):
            result(messages, "Done.")
            same((heard[:], heard.clear()), (ran, None), f"{allowed} {denied}")


@scenario
async def answers_in_nested_schemas():
    number = {"type": "number"}
    inside = {"type": "object", "properties": {"word_count": number}, "required": ["word_count"]}
    words = {"type": "array", "items": {"type": "string", "enum": ["Hello", "world"]}}
    schema = {"type": "object", "properties": {"analysis": inside, "words": words}, "required": ["analysis", "words"]}
    answer = '{"analysis": {"word_count": 2}, "words": ["Hello", "world"]}'
    more = {"output_format": {"type": "json_schema", "schema": schema}, "permission_mode": "acceptEdits"}
    messages = await all_of("{{shell ls}} {{call StructuredOutput %s}} {{say Done.}}" % answer, options(folder(), **more))
    same(result(messages).structured_output, {"analysis": {"word_count": 2}, "words": ["Hello", "world"]}, "the answer")


@scenario
async def a_stream_of_prompts_and_every_permission():
    asked = []

    async def leave(name, arguments, context):
        asked.append(name)
        return PermissionResultAllow()

    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "{{shell touch streamed}} {{say Listed.}}"}, "session_id": "test-session"}

    async with ClaudeSDKClient(options=options(folder(), can_use_tool=leave)) as client:
        await client.query(prompts())
        messages = [message async for message in client.receive_response()]
    result(messages, "Listed.")
    same(asked, ["Bash"], "what was asked")


if __name__ == "__main__":
    asyncio.run(sdk.main(SCENARIOS))
