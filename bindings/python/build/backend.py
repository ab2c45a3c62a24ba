"""Builds the wheel: the module by maturin, and beside it the program, as it is, in the wheel's scripts.

The command is the real program and no call into the module: it starts in a millisecond, is known to the system by its own name (links called
`claude` or `qwen` lead to it, and it starts itself again to watch over children), and keeps the signals and exit codes that it has everywhere.

AGENTGLOT_PROGRAM names a program that is built already; AGENTGLOT_PROFILE the profile that both are built with (`release` without it).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_wheel

__all__ = [
    "build_editable",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
SCRIPTS = HERE / "agentglot.data" / "scripts"


def profile() -> str:
    return os.environ.get("AGENTGLOT_PROFILE", "release")


def add_program() -> None:
    name = "agentglot.exe" if os.name == "nt" else "agentglot"
    built = os.environ.get("AGENTGLOT_PROGRAM")
    if built is None:
        subprocess.run(
            ["cargo", "build", "--locked", "--profile", profile(), "--features", "columnar", "--bin", "agentglot", "--manifest-path", ROOT / "Cargo.toml"],
            check=True,
        )
        built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile() / name
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, SCRIPTS / name)


def settings(given: dict[str, Any] | None) -> dict[str, Any]:
    # What the user says goes before.
    return {"build-args": f"--profile {profile()} --locked", **(given or {})}


def prepare_metadata_for_build_wheel(folder: str, config_settings: dict[str, Any] | None = None) -> str:
    # maturin wants the folder already now, and takes none of what says how to build.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(folder)


def build_wheel(folder: str, config_settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    add_program()
    return maturin.build_wheel(folder, settings(config_settings), metadata)


def build_editable(folder: str, config_settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    add_program()
    return maturin.build_editable(folder, settings(config_settings), metadata)
