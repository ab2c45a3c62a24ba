"""Tables over Arrow's C interface: the rows of the command, whoever reads them."""

import gzip
import os
import subprocess
import threading

import pytest
from conftest import GOLDEN

import agentglot

pyarrow = pytest.importorskip("pyarrow")
TABLES = ("events", "messages", "tool_calls", "turns")
GOOD = b'{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}\n'
END = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}\n'


def command(*args):
    # Some logs are damaged, and what some are written in is not clear.
    done = subprocess.run(["agentglot", "convert", "-q", *map(str, args)], capture_output=True)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.stdout


def written(table, *logs):
    return pyarrow.ipc.open_file(command("--to=arrow", f"--table={table}", *logs)).read_all()


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for vendor in ("claude", "codex", "cursor", "gemini", "hostile", "opencode"):
        for log in sorted((GOLDEN / vendor).glob("*.jsonl"))[:12]:
            (folder / f"{vendor}-{log.name}").write_bytes(log.read_bytes())
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(GOOD + END))
    return folder


@pytest.mark.parametrize("table", TABLES)
def test_the_rows_are_those_of_the_command(table, logs):
    read = agentglot.to_arrow([logs], table=table, on_damage="row")
    assert isinstance(read, pyarrow.RecordBatchReader)
    read = read.read_all()
    expected = written(table, logs)
    assert expected.num_rows > 60
    assert read.schema.equals(expected.schema, check_metadata=True)
    assert read.schema.metadata[b"agentglot.table"] == table.encode()
    assert read.equals(expected)
    assert set(read["damage"].to_pylist()) > {None}, "and damage has rows"
    assert agentglot.to_arrow([logs], table=table, jobs=1, on_damage="row").read_all().equals(expected)


def test_convert_gives_the_bytes_of_a_file(log):
    table = pyarrow.ipc.open_file(agentglot.convert(log, to="arrow")).read_all()
    assert table.equals(agentglot.to_arrow(log).read_all())


def test_memory_files_and_names(log):
    expected = agentglot.to_arrow(log).read_all()
    for src in (log.read_bytes(), iter([log.read_bytes()]), open(log, "rb")):
        assert agentglot.to_arrow(src, name=str(log)).read_all().equals(expected)
    assert set(expected["file"].to_pylist()) == {str(log)}
    # Whoever read the file may have unpacked it, or not.
    for src in (log.read_bytes(), gzip.compress(log.read_bytes())):
        assert agentglot.to_arrow(src, name="log.jsonl.gz").read_all()["json"].equals(expected["json"])


def test_a_stream_can_be_read_again_by_everybody(log):
    stream = agentglot.ArrowStream([log], table="tool_calls")
    calls = [call.id for turn in agentglot.turns(log) for call in turn.calls]
    assert calls
    for _ in range(2):
        assert pyarrow.table(stream)["id"].to_pylist() == calls
    assert pyarrow.schema(stream).equals(pyarrow.table(stream).schema)
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(stream)["id"].to_list() == calls
    duckdb = pytest.importorskip("duckdb")
    reader = agentglot.to_arrow([log], table="tool_calls")
    assert reader.schema
    assert duckdb.sql("SELECT id FROM reader ORDER BY line").fetchall() == [(call,) for call in calls]
    assert list(agentglot.to_arrow([log], table="tool_calls").read_pandas()["id"]) == calls


def test_damage_is_an_error_with_its_place_behind_all_rows(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(GOOD + b'{"type":"assistant","text":"\xff\xfe"}\n' + END)
    reader = agentglot.to_arrow([log], from_="cursor")
    rows = 0
    with pytest.raises(ValueError) as raised:
        for batch in reader:
            rows += batch.num_rows
    assert f"{log}:2:29: " in str(raised.value) and "UTF-8" in str(raised.value)
    whole = agentglot.to_arrow([log], from_="cursor", on_damage="row").read_all()
    assert rows == whole.num_rows
    assert [line for line, damage in zip(whole["line"].to_pylist(), whole["damage"].to_pylist()) if damage] == [2]
    (tmp_path / "what.jsonl").write_bytes(b'{"what":"is this"}\n' * 300)
    with pytest.raises(ValueError, match="what.jsonl"):
        agentglot.to_arrow([tmp_path / "what.jsonl"]).read_all()


def test_arguments_that_make_no_sense(tmp_path, log):
    for wrong in ({"table": "tables"}, {"from_": "cursorr"}, {"on_damage": "shout"}):
        with pytest.raises(agentglot.UsageError):
            agentglot.to_arrow(log, **wrong)
    with pytest.raises(agentglot.UsageError):
        agentglot.to_arrow([])
    with pytest.raises(FileNotFoundError):
        agentglot.to_arrow([tmp_path / "none"])


def test_readers_that_stop_leave_no_thread(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes((GOOD * 20 + END) * 5000)
    before = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
    for _ in range(3):
        reader = agentglot.to_arrow([log], from_="cursor", jobs=2)
        assert next(iter(reader)).num_rows
        del reader
    if before is not None:
        waited = threading.Event()
        for _ in range(200):
            if len(os.listdir("/proc/self/task")) <= before + os.cpu_count():
                break
            waited.wait(0.05)
        assert len(os.listdir("/proc/self/task")) <= before + os.cpu_count(), "pyarrow keeps its own, we keep none"
