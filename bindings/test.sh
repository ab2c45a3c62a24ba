#!/usr/bin/env bash
# The tests of the bindings, in environments of their own: builds the wheel, installs it where nothing else is, runs what a newcomer would.
# Needs Rust, Python 3.9 or newer and the package registry.
# Usage: bindings/test.sh [PYTEST-ARGUMENTS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/agentglot-ci"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}"
venv="$cache/bindings-python-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
needs="maturin==1.16.* pytest==9.* mypy==1.* pyarrow polars duckdb pandas"
if [ "$(cat "$venv/needs" 2> /dev/null)" != "$needs" ]; then
  python3 -m venv --clear "$venv"
  # shellcheck disable=SC2086 # several
  "$venv/bin/python" -m pip install --quiet $needs
  echo "$needs" > "$venv/needs"
fi
export PATH="$venv/bin:$PATH"
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$wheels" ./python
python -m pip install --quiet --no-deps --force-reinstall "$wheels"/*.whl
cd python
python -m pytest -q -p no:cacheprovider "$@"
