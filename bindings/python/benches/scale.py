"""How much faster two workers of Spark or Ray are than one, each with a processor of its own; and whether their rows are those of one machine.

Usage: python benches/scale.py FOLDER [--engines spark,ray] [--workers 1,2] [--table tool_calls] [--scratch FOLDER]

FOLDER holds the logs, each a session. They are read as whole files, and then as lines of one file, in which the sessions follow each other,
grouped by session. Needs pyspark (and Java) or ray, pyarrow and duckdb. Linux only: processors are given out with `taskset`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

SESSION = r'"session_id":\s*"([^"]*)"'


def spark_job(shape: str, logs: str, out: str, table: str, workers: int) -> None:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    from agentglot.spark import files, lines

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "16").config("spark.log.level", "ERROR")
    spark = builder.config("spark.local.dir", str(Path(out).parent)).getOrCreate()
    started = time.monotonic()
    if shape == "files":
        read = spark.read.format("binaryFile").load(logs)
        rows = files(read, table=table)
    else:
        text = spark.read.text(logs).withColumn("n", F.monotonically_increasing_id())
        text = text.withColumn("session", F.regexp_extract("value", SESSION, 1))
        rows = lines(text, by="session", order="n", table=table)
    rows.write.parquet(out)
    print(f"{time.monotonic() - started:.2f}")
    spark.stop()


def ray_job(shape: str, logs: str, out: str, table: str, workers: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import ray

    from agentglot.ray import files, lines, text

    # An actor keeps its processor while others read: two places for each worker, one processor.
    ray.init(num_cpus=2 * workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def session(batch: pa.Table) -> pa.Table:
        found = pc.struct_field(pc.extract_regex(batch["text"], SESSION.replace("(", "(?P<id>", 1)), "id")
        return batch.append_column("session", pc.fill_null(found, ""))

    started = time.monotonic()
    if shape == "files":
        rows = files(ray.data.read_binary_files(logs, include_paths=True, override_num_blocks=100), table=table, workers=workers)
    else:
        found = text(logs, size=32 << 20).map_batches(session, batch_format="pyarrow")
        rows = lines(found, by="session", order="at", table=table)
    rows.write_parquet(out)
    print(f"{time.monotonic() - started:.2f}")
    ray.shutdown()


def alone(logs: str, out: str, table: str) -> None:
    """The rows of one machine, one job."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import agentglot

    started = time.monotonic()
    os.makedirs(out)
    reader = pa.RecordBatchReader.from_stream(agentglot.to_arrow([logs], table=table, jobs=1, on_damage="row"))
    with pq.ParquetWriter(f"{out}/rows.parquet", reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    print(f"{time.monotonic() - started:.2f}")


def digest(folder: str, without: tuple[str, ...]) -> tuple[int, int]:
    """How many rows there are, and a sum over them that no order changes."""
    import duckdb

    each = f"read_parquet('{folder}/**/*.parquet')"
    columns = [(name, kind) for name, kind, *_ in duckdb.sql(f"DESCRIBE SELECT * FROM {each}").fetchall() if name not in without]
    # Engines have types of their own for times and nested values.
    said = ", ".join(f"epoch_us({name})" if kind.startswith("TIMESTAMP") else f"{name}::VARCHAR" for name, kind in columns)
    [(count, total)] = duckdb.sql(f"SELECT count(*), sum(hash({said})::HUGEINT) FROM {each}").fetchall()
    return count, total


def run(workers: int, *arguments: str) -> float:
    processors = ",".join(str(each) for each in range(workers))
    done = subprocess.run(
        ["taskset", "-c", processors, sys.executable, __file__, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        sys.exit(done.stderr[-4000:])
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--engines", default="spark,ray")
    parser.add_argument("--shapes", default="files,lines")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--table", default="tool_calls")
    parser.add_argument("--scratch", default=".")
    given = parser.parse_args()
    logs, scratch = os.path.abspath(given.folder), Path(given.scratch).absolute()
    size = sum(each.stat().st_size for each in Path(logs).iterdir())
    out = str(scratch / "out")
    shutil.rmtree(out, ignore_errors=True)
    took = run(1, "alone", logs, out, given.table)
    print(f"{size / 1e9:.2f} GB, {len(os.listdir(logs))} files, table {given.table}; one machine, one job: {took:.1f} s", flush=True)
    # Files are called otherwise by each engine; groups of lines are called by their session, and their lines are counted from its first.
    without = {"files": ("file",), "lines": ("file", "line", "result_line")}
    wanted = {shape: digest(out, names) for shape, names in without.items()}
    one = scratch / "one" / "all.jsonl"
    if "lines" in given.shapes:
        one.parent.mkdir(exist_ok=True)
        with open(one, "wb") as whole:
            for each in sorted(Path(logs).iterdir()):
                with open(each, "rb") as log:
                    shutil.copyfileobj(log, whole, 1 << 20)
    for engine in given.engines.split(","):
        for shape in given.shapes.split(","):
            times: dict[int, float] = {}
            for workers in [int(each) for each in given.workers.split(",")]:
                shutil.rmtree(out, ignore_errors=True)
                times[workers] = run(workers, engine, shape, logs if shape == "files" else str(one), out, given.table, str(workers))
                found = digest(out, without[shape])
                same = "the same rows" if found == wanted[shape] else f"OTHER ROWS: {found}, not {wanted[shape]}"
                rate = f"{size / 1e6 / times[workers]:.0f} MB/s"
                print(f"{engine} {shape}, {workers} workers: {times[workers]:.1f} s, {rate}, {times[workers] / times[min(times)]:.2f} of one; {same}", flush=True)
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(one.parent, ignore_errors=True)


if __name__ == "__main__":
    jobs = {"spark": spark_job, "ray": ray_job}
    if sys.argv[1:2] == ["alone"]:
        alone(*sys.argv[2:])
    elif sys.argv[1:2] and sys.argv[1] in jobs:
        shape, logs, out, table, workers = sys.argv[2:]
        jobs[sys.argv[1]](shape, logs, out, table, int(workers))
    else:
        main()
