"""Engines of many machines give the rows of one machine."""

import gzip
import os
import re
import sys

import pytest
from conftest import GOLDEN

import agentglot

pyarrow = pytest.importorskip("pyarrow")
BROKEN = b'{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}\n{"type":"ass\n'


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for log in ("claude/cli_edit.out.jsonl", "claude/cli_parallel_partial.out.jsonl", "codex/rollout_multi.jsonl", "hostile/claude-truncated.jsonl"):
        (folder / log.replace("/", "-")).write_bytes((GOLDEN / log).read_bytes())
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress((GOLDEN / "claude" / "cli_bash.out.jsonl").read_bytes()))
    (folder / "what.jsonl").write_bytes(b'{"what":"is this"}\n' * 300)
    return folder


def sorted_rows(rows):
    # Engines call files by other names: `file:/…`.
    for row in rows:
        row["file"] = row["file"].rsplit("/", 1)[-1]
        row["damage"] = row["damage"] and re.sub(r"^\S*/", "", row["damage"])
    return sorted(rows, key=repr)


def expected(logs, table):
    rows = agentglot.to_arrow([logs], table=table, on_damage="row").read_all().to_pylist()
    assert any(row["damage"] and row["file"].endswith("what.jsonl") for row in rows)
    return sorted_rows(rows)


def sessions():
    """A file of many sessions, mixed line by line, as rows."""
    texts = [(GOLDEN / "claude" / f"{name}.out.jsonl").read_text().splitlines() for name in ("cli_edit", "cli_bash")] + [BROKEN.decode().splitlines()]
    rows = [{"session": f"s{n}", "n": at, "value": line} for n, text in enumerate(texts) for at, line in enumerate(text)]
    alone = [agentglot.to_arrow("\n".join(text).encode(), table="messages", name=f"s{n}", on_damage="row").read_all() for n, text in enumerate(texts)]
    return sorted(rows, key=lambda row: (row["n"], row["session"])), pyarrow.concat_tables(alone).to_pylist()


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    try:
        session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start here: {error}")
    yield session
    session.stop()


@pytest.mark.parametrize("table", ["messages", "tool_calls"])
def test_spark_reads_files(spark, logs, table):
    from agentglot.spark import files

    read = files(spark.read.format("binaryFile").load(str(logs)), table=table)
    made = read.toArrow().cast(agentglot.to_arrow(b"", table=table).schema)
    assert sorted_rows(made.to_pylist()) == expected(logs, table)
    with pytest.raises(agentglot.UsageError):
        files(spark.read.format("binaryFile").load(str(logs)), from_="cursorr")


def test_spark_reads_lines(spark):
    from agentglot.spark import lines

    rows, alone = sessions()
    made = lines(spark.createDataFrame(rows), by="session", order="n", table="messages").toArrow()
    assert sorted_rows(made.cast(agentglot.to_arrow(b"", table="messages").schema).to_pylist()) == sorted_rows(alone)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("table", ["messages", "tool_calls"])
def test_ray_reads_files(ray, logs, table):
    from agentglot.ray import files

    made = files(ray.data.read_binary_files(str(logs), include_paths=True), table=table, workers=2)
    assert sorted_rows(pyarrow.concat_tables(ray.get(made.to_arrow_refs())).to_pylist()) == expected(logs, table)


def test_ray_reads_lines(ray):
    from agentglot.ray import lines

    rows, alone = sessions()
    made = lines(ray.data.from_items(rows), by="session", line="value", order="n", table="messages")
    assert sorted_rows(pyarrow.concat_tables(ray.get(made.to_arrow_refs())).to_pylist()) == sorted_rows(alone)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
def test_ranges_of_a_file_have_each_line_once(tmp_path, size):
    from agentglot._rows import lines_of

    for content in (b"", b"\n", b"a", b"a\n", b"one\n\r\n\nfour \xff and\rmore\n" + b"x" * 100 + b"\nend", b"\n\n\na\nb\n"):
        file = tmp_path / "log.jsonl"
        file.write_bytes(content)
        found = [row for start in range(0, len(content), size) for row in lines_of(str(file), start, size).to_pylist()]
        texts = content.split(b"\n")
        if not texts[-1]:
            texts.pop()
        assert [row["text"] for row in found] == texts
        assert all(content[row["at"] :].startswith(row["text"]) for row in found)
        assert len({row["at"] for row in found}) == len(found)
