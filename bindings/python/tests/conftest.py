from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "golden"


@pytest.fixture
def log() -> Path:
    """A real log of Claude Code, with partial messages."""
    return GOLDEN / "claude" / "cli_parallel_partial.out.jsonl"
