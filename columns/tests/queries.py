"""The questions of docs/columns.md, asked of DuckDB and compared with the answers that stand there; pyarrow and Polars read the tables too.

Usage: queries.py AGENTGLOT    (from the folder of the repository; needs duckdb, pyarrow, polars and pandas; BLESS=1 writes the answers anew)
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars
import pyarrow.ipc
import pyarrow.parquet

page = Path("docs/columns.md")
agentglot = str(Path(sys.argv[1]).absolute())
TABLES = ["events", "messages", "tool_calls", "turns"]


def convert(*args, **more):
    # Some of the logs are damaged: then the exit code is 1.
    done = subprocess.run([agentglot, "convert", "-q", *args], capture_output=True, **more)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout


def answer(sql, tables):
    duckdb.sql("SET TimeZone = 'UTC'")
    found = duckdb.sql(sql.replace("'tables/", f"'{tables}/"))
    rows = [[str(name) for name in found.columns]]
    rows += [["" if cell is None else str(cell).replace("\n", "⏎") for cell in row] for row in found.fetchall()]
    return "".join(" | ".join(row).rstrip() + "\n" for row in rows)


def ask(tables):
    text = page.read_text()
    begin = text.index("## Ten questions")
    command = re.search(r"```sh\n(agentglot convert .*)\n```", text[begin:]).group(1)
    logs = [word for word in shlex.split(command) if word.startswith("golden/")]
    convert("--to", "parquet", "-o", f"{tables}/", *logs)
    wrong = []

    def one(found):
        said = answer(found.group(1), tables)
        if said != found.group(3):
            wrong.append(f"{found.group(1)}{found.group(3) or ''}---\n{said}")
        return f"```sql\n{found.group(1)}```\n\n```text\n{said}```\n"

    asked, count = re.subn(r"```sql\n(.*?)```\n(\n```text\n(.*?)```\n)?", one, text[begin:], flags=re.S)
    assert count == 10, f"{count} questions"
    if os.environ.get("BLESS"):
        page.write_text(text[:begin] + asked)
    elif wrong:
        sys.exit("docs/columns.md says something else:\n" + "\n".join(wrong))
    return logs


def read_by_others(tables, logs):
    for table in TABLES:
        parquet = pyarrow.parquet.read_table(f"{tables}/{table}.parquet")
        assert parquet.schema.metadata[b"agentglot.table"] == table.encode(), parquet.schema.metadata
        arrow = Path(tables, f"{table}.arrow")
        convert("--to", "arrow", "--table", table, "-o", str(arrow), *logs)
        assert pyarrow.ipc.open_file(arrow).read_all().equals(parquet), table
        for frame in (polars.read_parquet(f"{tables}/{table}.parquet"), polars.read_ipc(arrow)):
            assert frame.height == parquet.num_rows and frame.columns == parquet.column_names, table
        assert len(parquet.to_pandas()) == parquet.num_rows


def come_back(tables):
    """Tables that other programs wrote anew are logs all the same, as far as they kept the lines."""
    log = "golden/claude/cli_edit.out.jsonl"
    events = f"{tables}/one.parquet"
    convert("--to", "parquet", "-o", events, log)
    duckdb.sql(f"COPY (FROM '{events}' ORDER BY file, seq) TO '{tables}/duckdb.parquet'")
    polars.read_parquet(events).write_parquet(f"{tables}/polars.parquet")
    polars.read_parquet(events).write_ipc(f"{tables}/polars.arrow")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(events), f"{tables}/pyarrow.parquet")
    for name in ["one.parquet", "duckdb.parquet", "polars.parquet", "polars.arrow", "pyarrow.parquet"]:
        container = name.rsplit(".")[-1]
        assert convert("--from", container, "--to", "claude", f"{tables}/{name}") == Path(log).read_bytes(), name
    piped = convert("--to", "claude", input=convert("--to", "arrow", log))
    assert piped == Path(log).read_bytes()


def the_same_with_any_number_of_workers(tables):
    """A log that is long enough to be cut into parts."""
    log = Path(tables, "long.jsonl")
    sessions = [Path(f"golden/claude/{name}.out.jsonl").read_text() for name in ("cli_edit", "cli_bash", "cli_agent")]
    with log.open("w") as file:
        while file.tell() < 9 << 20:
            n = file.tell()
            # Each with an id of its own.
            file.write(re.sub(r'"session_id":"[^"]*"', f'"session_id":"s{n}"', sessions[n % 3]))
    files = []
    for jobs in ("1", "3"):
        convert("--jobs", jobs, "--to", "parquet", "-o", f"{tables}/jobs{jobs}/", str(log))
        files.append([pyarrow.parquet.read_table(f"{tables}/jobs{jobs}/{table}.parquet") for table in TABLES])
    for table, one, three in zip(TABLES, *files):
        assert one.num_rows > 1000 and one.equals(three), table
    assert convert("--to", "claude", f"{tables}/jobs3/events.parquet") == log.read_bytes()


with tempfile.TemporaryDirectory() as folder:
    read_by_others(folder, ask(folder))
    come_back(folder)
    the_same_with_any_number_of_workers(folder)
    print("ten questions are answered as docs/columns.md says; pyarrow, Polars, pandas and DuckDB read the tables")
