"""codex_sdk.py own: Codex's SDK for Python, as it is, in front of us as `codex`: it speaks to `codex app-server`.

TEST_CLI is our program, TEST_BACKEND who answers. One line a scenario; exit code 1 if one failed.
"""

import asyncio
import os
import sys
import threading
import time

from openai_codex import AsyncCodex, Codex
from openai_codex._approval_mode import ApprovalMode
from openai_codex._sandbox import Sandbox
from openai_codex.client import CodexClient, CodexConfig
from openai_codex.errors import InvalidRequestError

CLI, BACKEND = (os.environ[name] for name in ("TEST_CLI", "TEST_BACKEND"))
WORKSPACE = os.environ["WORKSPACE"]
SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def config(**more):
    return CodexConfig(codex_bin=CLI, cwd=WORKSPACE, env={"AGENTGLOT_BACKEND": BACKEND}, **more)


def same(got, wanted, what):
    assert got == wanted, f"{what}: {got!r} is not {wanted!r}"


def types(result):
    return [item.root.type for item in result.items]


def here(name):
    return os.path.join(WORKSPACE, name)


@scenario
def a_turn_and_the_next_one():
    with Codex(config()) as codex:
        assert codex.metadata.serverInfo.version.startswith("0."), codex.metadata
        thread = codex.thread_start(cwd=WORKSPACE)
        first = thread.run("{{think hm|say Hello.}}")
        same((first.status.value, first.final_response), ("completed", "Hello."), "the first turn")
        same(types(first), ["userMessage", "reasoning", "agentMessage"], "its items")
        assert first.usage.last.output_tokens > 0 and first.duration_ms is not None, first
        second = thread.run("{{say Again.}}")
        same(second.final_response, "Again.", "the second turn")
        assert first.id != second.id, "one id for two turns"


@scenario
def pieces_come_before_the_whole():
    with Codex(config()) as codex:
        handle = codex.thread_start(cwd=WORKSPACE).turn("{{say One two three four.}}")
        events = list(handle.stream())
    unknown = [event.method for event in events if type(event.payload).__name__ == "UnknownNotification"]
    same(unknown, [], "notifications that the SDK cannot read")
    pieces = [event.payload.delta for event in events if event.method == "item/agentMessage/delta"]
    assert len(pieces) > 1, pieces
    same("".join(pieces), "One two three four.", "the pieces")
    same([event.method for event in events][-1], "turn/completed", "the last notification")


def client(handler, sandbox="workspace-write", policy="untrusted"):
    client = CodexClient(config(), approval_handler=handler)
    client.start()
    client.initialize()
    thread = client.thread_start({"cwd": WORKSPACE, "sandbox": sandbox, "approvalPolicy": policy}).thread.id
    return client, thread


def run(client, thread, text):
    turn = client.turn_start(thread, text).turn.id
    return client.wait_for_turn_completed(turn)


@scenario
def the_handler_decides_what_runs():
    asked = []

    def decide(method, params):
        asked.append((method, params.get("command")))
        return {"decision": "accept" if "yes" in (params.get("command") or "") else "decline"}

    codex, thread = client(decide)
    try:
        for word in ("yes", "no"):
            run(codex, thread, "{{shell touch %s}}{{say Done.}}" % here(word))
    finally:
        codex.close()
    same([os.path.exists(here(word)) for word in ("yes", "no")], [True, False], "what ran")
    same([method for method, _ in asked], ["item/commandExecution/requestApproval"] * 2, "what was asked")


@scenario
def files_are_asked_about_by_their_own_question():
    asked = []

    def decide(method, params):
        asked.append(method)
        return {"decision": "accept"}

    codex, thread = client(decide)
    try:
        run(codex, thread, "{{write %s hello}}{{say Done.}}" % here("new.txt"))
    finally:
        codex.close()
    same((asked, os.path.exists(here("new.txt"))), (["item/fileChange/requestApproval"], True), "what was asked")


@scenario
def nobody_is_asked_where_the_sandbox_is_off():
    with Codex(config()) as codex:
        thread = codex.thread_start(cwd=WORKSPACE, sandbox=Sandbox.full_access, approval_mode=ApprovalMode.deny_all)
        result = thread.run("{{shell echo from the shell}}{{say Done.}}")
    command = next(item.root for item in result.items if item.root.type == "commandExecution")
    same((command.status.value, command.aggregated_output.strip()), ("completed", "from the shell"), "the command")


@scenario
def a_turn_is_interrupted():
    with Codex(config()) as codex:
        thread = codex.thread_start(cwd=WORKSPACE)
        handle = thread.turn("{{slow 30}}")
        threading.Timer(1.0, handle.interrupt).start()
        since = time.monotonic()
        ends = [event.payload.turn.status.value for event in handle.stream() if event.method == "turn/completed"]
        same(ends, ["interrupted"], "its end")
        assert time.monotonic() - since < 10, "it was not stopped"
        same(thread.run("{{say Still here.}}").final_response, "Still here.", "what comes after")


@scenario
def a_turn_is_steered():
    with Codex(config()) as codex:
        handle = codex.thread_start(cwd=WORKSPACE).turn("{{slow 1}}")
        handle.steer("{{say Steered.}}")
        same(handle.run().final_response, "Steered.", "the answer")


@scenario
def a_thread_goes_on_in_another_process():
    with Codex(config()) as codex:
        thread = codex.thread_start(cwd=WORKSPACE)
        thread.run("{{say Remember the milk.}}")
        thread.set_name(" Shopping ")
        name = thread.id
    with Codex(config()) as codex:
        listed = [thread for thread in codex.thread_list(cwd=WORKSPACE).data if thread.id == name]
        same([(thread.name, "milk" in thread.preview) for thread in listed], [("Shopping", True)], "what is listed")
        thread = codex.thread_resume(name)
        turns = thread.read(include_turns=True).thread.turns
        same([item.root.type for item in turns[0].items], ["userMessage", "agentMessage"], "what was said before")
        same(thread.run("{{say Bought.}}").final_response, "Bought.", "what is said now")
        copy = codex.thread_fork(name)
        assert copy.id != name
        same(copy.run("{{say In the copy.}}").final_response, "In the copy.", "what the copy says")


@scenario
def a_thread_is_put_away_brought_back_and_made_shorter():
    with Codex(config()) as codex:
        codex.login_api_key("key-of-the-host")
        name = codex.thread_start(cwd=WORKSPACE).id
        codex.thread_resume(name).run("{{say One.}}")
        codex.thread_archive(name)
        away = [thread.id for thread in codex.thread_list(cwd=WORKSPACE, archived=True).data]
        same(away, [name], "what is put away")
        codex.thread_unarchive(name)
        thread = codex.thread_resume(name)
        thread.compact()
        same(thread.run("{{say Two.}}").final_response, "Two.", "what is said behind that")


@scenario
def failures_are_exceptions_and_the_session_lives():
    with Codex(config()) as codex:
        try:
            codex.thread_resume("01a1fcf8-4143-7513-ad2b-ab712607a611")
            raise AssertionError("a thread of nobody was resumed")
        except InvalidRequestError as error:
            assert "no rollout found" in str(error), error
        thread = codex.thread_start(cwd=WORKSPACE)
        try:
            thread.run("{{fail 400 this is wrong}}")
            raise AssertionError("the turn did not fail")
        except RuntimeError as error:
            assert "this is wrong" in str(error), error
        same(thread.run("{{say Fine.}}").final_response, "Fine.", "what comes after")


@scenario
def the_asynchronous_api_does_the_same():
    async def both():
        async with AsyncCodex(config()) as codex:
            threads = [await codex.thread_start(cwd=WORKSPACE) for _ in range(2)]
            results = await asyncio.gather(*(thread.run("{{say %d.}}" % n) for n, thread in enumerate(threads)))
            same([result.final_response for result in results], ["0.", "1."], "threads beside each other")
            assert (await codex.models()).data, "there are no models"

    asyncio.run(both())


def main():
    failed = 0
    for function in SCENARIOS:
        since, why = time.monotonic(), None
        try:
            function()
        except BaseException as error:
            why = f"{type(error).__name__}: {error}"[:600]
        failed += why is not None
        print(f"{'FAILED' if why else 'ok'} {function.__name__} ({time.monotonic() - since:.1f} s){' ' + why if why else ''}", flush=True)
    # A thread that hangs must not keep the process.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
