"""What strangers and programs do wrong: an exception that says so, and never the end of the interpreter."""

import asyncio
import gzip
import io
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

import agentglot
from agentglot import _native

GOOD = b'{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}\n'
END = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}\n'


def test_damage_is_told_with_its_place_and_everything_else_converted():
    log = GOOD + b'{"type":"assistant","text":"\xff\xfe"}\n' + END
    with pytest.raises(agentglot.DamagedError) as raised:
        agentglot.convert(log, to="tricode", from_="cursor")
    error = raised.value
    assert isinstance(error, agentglot.AgentglotError) and isinstance(error, ValueError)
    assert (error.file, error.line, error.byte) == ("-", 2, 29) and "UTF-8" in str(error)
    assert error.output == agentglot.convert(GOOD + END, to="tricode", from_="cursor")
    assert agentglot.convert(log, to="tricode", from_="cursor", on_damage="ignore") == error.output
    seen = []
    agentglot.convert(log, to="tricode", from_="cursor", on_damage=seen.append)
    assert seen == list(error.damage)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        agentglot.convert(log, to="tricode", from_="cursor", on_damage="warn")
    assert [str(warning.message) for warning in warned] == [str(seen[0])]
    given = []
    with pytest.raises(agentglot.DamagedError):
        for piece in agentglot.convert_stream(iter((GOOD, log)), to="tricode", from_="cursor"):
            given.append(piece)
    assert given


def test_errors_go_from_process_to_process(tmp_path):
    for call, members in (
        (lambda: agentglot.convert(GOOD + b"{\n", to="tricode", from_="cursor"), ("file", "line", "byte", "damage", "output")),
        (lambda: agentglot.convert(b'{"what":"is this"}\n', to="tricode"), ("file", "candidates")),
        (lambda: agentglot.convert(GOOD, to="nobody"), ("file",)),
    ):
        with pytest.raises(agentglot.AgentglotError) as raised:
            call()
        error = raised.value
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
        assert all(getattr(again, member) == getattr(error, member) for member in members)


def test_arguments_that_make_no_sense(tmp_path, log):
    with pytest.raises(agentglot.UsageError, match="did you mean"):
        agentglot.convert(log, to="cursorr")
    with pytest.raises(agentglot.UsageError):
        agentglot.convert(log, to="cursor", on_damage="shout")
    with pytest.raises(TypeError, match="binary"):
        agentglot.convert(io.StringIO("x"), to="cursor")
    for src in (17, None, [1, 2]):
        with pytest.raises(TypeError):
            agentglot.convert(src, to="cursor")
        with pytest.raises(TypeError):
            list(agentglot.events(src))
    with pytest.raises(FileNotFoundError) as raised:
        agentglot.convert(tmp_path / "none", to="cursor")
    assert raised.value.filename == str(tmp_path / "none")
    for call in (agentglot.detect, agentglot.check, agentglot.stats, agentglot.sessions, lambda path: list(agentglot.events(path))):
        with pytest.raises(FileNotFoundError):
            call(str(tmp_path / "none"))
    with pytest.raises(OSError, match="directory"):
        agentglot.detect(str(tmp_path))
    for call in (agentglot.detect, agentglot.sessions, lambda src: agentglot.convert(src, to="cursor"), lambda src: list(agentglot.events(src))):
        with pytest.raises(agentglot.UnclearError):
            call(b'{"what":"is this"}\n' * 300)


def test_messages_name_the_keywords(log):
    for call, keyword in (
        (lambda: agentglot.convert(b'{"what":"is this"}\n' * 300, to="cursor"), "name it with from_ "),
        (lambda: list(agentglot.events(b'{"what":"is this"}\n' * 300)), "name it with from_ "),
        (lambda: agentglot.convert(log, to="cursor", tools="own"), "'tools'"),
        (lambda: agentglot.convert(log, to="cursor", max_line="much"), "'max_line'"),
        (lambda: agentglot.check(log, level="bad"), "'level'"),
        (lambda: agentglot.check(log, from_="nobody"), "from_: unknown dialect"),
        (lambda: agentglot.stats(log, by="moon"), "'by'"),
        (lambda: agentglot.convert(log, to="cursor", prompts=["one"] * 9), "given with prompts"),
    ):
        with pytest.raises(agentglot.AgentglotError) as raised:
            call()
        assert keyword in str(raised.value) and "--" not in str(raised.value)


def test_a_single_path_is_one_path(log, tmp_path):
    for path in (log, str(log)):
        (done,) = agentglot.convert_files(path, to="cursor", output=tmp_path)
        assert done.log == str(log) and not done.error


def test_a_folder_is_no_log(tmp_path):
    for call in (lambda: agentglot.convert(tmp_path, to="cursor"), lambda: agentglot.convert_file(tmp_path, tmp_path / "out", to="cursor")):
        with pytest.raises(IsADirectoryError) as raised:
            call()
        assert raised.value.filename == str(tmp_path)


def test_a_file_that_ends_too_soon_is_told_whatever_becomes_of_damage(log, tmp_path):
    cut = tmp_path / "log.jsonl.gz"
    cut.write_bytes(gzip.compress(log.read_bytes())[:-20])
    with pytest.raises(agentglot.DamagedError):
        agentglot.convert(cut, to="cursor")
    for call in (
        lambda: agentglot.convert(cut, to="cursor", on_damage="ignore"),
        lambda: agentglot.convert_file(cut, tmp_path / "out.jsonl", to="cursor", on_damage="ignore"),
        lambda: agentglot.check(cut),
        lambda: agentglot.stats(cut),
        lambda: agentglot.stats([log, cut]),
    ):
        with pytest.raises(OSError, match="cannot be read"):
            call()


def test_pieces_are_whatever_holds_bytes():
    converter = agentglot.Converter(to="tricode", from_="cursor")
    assert converter.feed(memoryview(END)) + converter.finish() == agentglot.convert(END, to="tricode", from_="cursor")
    with pytest.raises(TypeError, match="binary"):
        agentglot.Converter(to="tricode").feed("text")


def test_one_text_is_no_sequence_of_texts(log, tmp_path):
    with pytest.raises(TypeError, match="prompts is a sequence"):
        agentglot.convert(log, to="cursor", prompts="one")
    with pytest.raises(TypeError, match="include is a sequence"):
        agentglot.convert_files([log], to="cursor", output=tmp_path, include="*.jsonl")


def test_asynchronous_logs_are_sent_to_where_they_are_read():
    async def log():
        yield GOOD

    class Stream:
        async def read(self, size):
            return GOOD

    for src in (log, Stream):
        for read in (agentglot.sessions, agentglot.detect, lambda src: list(agentglot.events(src)), lambda src: agentglot.convert(src, to="cursor")):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(TypeError, match="aevents and aconvert"):
                    read(src())


def test_others_are_sent_to_where_they_are_read():
    async def read(src):
        async for _ in agentglot.aevents(src):
            pass

    for src in (END, [END], io.BytesIO(END), "log.jsonl", None):
        with pytest.raises(TypeError, match="events and convert_stream"):
            asyncio.run(read(src))


def test_a_generator_that_raises_in_the_middle():
    def log():
        yield GOOD
        raise ZeroDivisionError("in the middle")

    for read in (
        lambda: agentglot.convert(log(), to="tricode", from_="cursor"),
        lambda: list(agentglot.convert_stream(log(), to="tricode", from_="cursor")),
        lambda: list(agentglot.events(log(), from_="cursor")),
        lambda: agentglot.sessions(log(), from_="cursor"),
    ):
        with pytest.raises(ZeroDivisionError, match="in the middle"):
            read()
    events = agentglot.events(log(), from_="cursor")
    assert isinstance(next(events), agentglot.Event)
    with pytest.raises(ZeroDivisionError):
        list(events)
    assert list(events) == [], "what raised is over: no outcome is made up for it"


def test_a_panic_is_an_exception():
    with pytest.raises(agentglot.InternalError, match="on purpose"):
        _native.panic("on purpose")
    assert agentglot.convert(END, to="tricode", from_="cursor"), "and everything goes on"


def test_others_run_while_rust_works(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes((GOOD * 20 + END) * 10000)
    done = threading.Event()
    steps = 0
    worker = threading.Thread(target=lambda: (agentglot.convert(log, to="claude", from_="cursor"), done.set()))
    worker.start()
    while not done.is_set():
        steps += 1
        done.wait(0.001)
    worker.join()
    assert steps > 3


def run(program, timeout=120):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=timeout, text=True)


def test_an_interpreter_that_ends_while_threads_work(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes((GOOD * 20 + END) * 5000)
    program = f"""
        import threading, time, agentglot
        def work(what):
            while True:
                what()
        log = {str(log)!r}
        for what in (
            lambda: agentglot.convert(log, to="claude", from_="cursor"),
            lambda: [None for _ in agentglot.events(log, from_="cursor")],
            lambda: agentglot.stats(log),
        ):
            threading.Thread(target=work, args=(what,), daemon=True).start()
        time.sleep(0.3)
    """
    for _ in range(3):
        ended = run(program)
        assert ended.returncode == 0, ended.stderr
        assert "fatal" not in ended.stderr.lower(), ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_a_program_that_converts(log):
    expected = agentglot.convert(log, to="cursor")
    child = os.fork()
    if child == 0:
        os._exit(0 if agentglot.convert(log, to="cursor") == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
