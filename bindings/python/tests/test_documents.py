"""What is written down holds: the snippets of the README, the examples of docstrings, the types."""

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import GOLDEN

import agentglot

HERE = Path(__file__).parent
SNIPPETS = re.findall(r"^```python\n(.*?)^```", (HERE.parent / "README.md").read_text(), re.M | re.S)


def test_there_are_snippets():
    assert len(SNIPPETS) == 6


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder as the README has it: `session.jsonl`, and logs in `logs`."""
    shutil.copy(GOLDEN / "claude" / "cli_parallel_partial.out.jsonl", tmp_path / "session.jsonl")
    (tmp_path / "logs").mkdir()
    for name in ("cli_edit", "cli_parallel_partial"):
        shutil.copy(GOLDEN / "claude" / f"{name}.out.jsonl", tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("n", range(len(SNIPPETS)))
def test_a_snippet(n, place):
    if "import duckdb" in SNIPPETS[n]:
        pytest.importorskip("duckdb")
    ran = subprocess.run([sys.executable, "-c", SNIPPETS[n]], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout, "it shows something"


@pytest.mark.parametrize("name", ["agentglot", "agentglot._api", "agentglot._columns", "agentglot._sessions", "agentglot.model"])
def test_docstrings(name):
    failed, run = doctest.testmod(importlib.import_module(name))
    assert run and not failed


def test_everything_public_is_explained():
    for name in agentglot.__all__:
        assert getattr(agentglot, name).__doc__ or name in ("Source", "OnDamage", "Logs", "Table"), name
    assert "UnclearError" in (agentglot.convert.__doc__ or "")


def test_types(place):
    """The package and the snippets are sound for `mypy --strict`, and what is wrong is found."""
    for n, snippet in enumerate(SNIPPETS):
        (place / f"snippet{n}.py").write_text(snippet)
    (place / "wrong.py").write_text(
        "import agentglot\n"
        "agentglot.convert(b'', to=7)\n"
        "for event in agentglot.events(b''):\n"
        "    if isinstance(event, agentglot.ToolResult):\n"
        "        event.colour\n"
        "agentglot.ToolResult(call=1)\n"
    )
    environment = {**os.environ, "MYPYPATH": ""}
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", sys.executable, "--cache-dir", str(place / "cache")]
    sound = subprocess.run([*mypy, "-p", "agentglot"], capture_output=True, text=True, env=environment)
    assert sound.returncode == 0, sound.stdout
    sound = subprocess.run([*mypy, *(f"snippet{n}.py" for n in range(len(SNIPPETS)))], capture_output=True, text=True, env=environment)
    assert sound.returncode == 0, sound.stdout
    wrong = subprocess.run([*mypy, "wrong.py"], capture_output=True, text=True, env=environment)
    assert re.findall(r"^wrong.py:(\d+): error", wrong.stdout, re.M) == ["2", "5", "6"], wrong.stdout
