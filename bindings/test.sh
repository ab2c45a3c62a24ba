#!/usr/bin/env bash
# The tests of the bindings, in environments of their own: builds the packages, installs them where nothing else is, runs what a newcomer would.
# Needs Rust, Python 3.9 or newer, Node 20 or newer with npm, and the package registries.
# Usage: bindings/test.sh [python|node] [ARGUMENTS of pytest or of node --test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

what=both
case ${1:-} in
  python | node) what=$1; shift ;;
esac

cache="${XDG_CACHE_HOME:-$HOME/.cache}/agentglot-ci"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python_package() {
  local venv needs
  venv="$cache/bindings-python-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  needs="maturin==1.16.* pytest==9.* mypy==1.* pyarrow polars duckdb pandas"
  if [ "$(cat "$venv/needs" 2> /dev/null)" != "$needs" ]; then
    python3 -m venv --clear "$venv"
    # shellcheck disable=SC2086 # several
    "$venv/bin/python" -m pip install --quiet $needs
    echo "$needs" > "$venv/needs"
  fi
  (
    export PATH="$venv/bin:$PATH"
    python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch" ./python
    python -m pip install --quiet --no-deps --force-reinstall "$scratch"/*.whl
    cd python
    python -m pytest -q -p no:cacheprovider "$@"
  )
}

node_package() {
  local tools="$cache/bindings-node" needs="typescript@7 @types/node@22 node@22" node
  if [ "$(cat "$tools/needs" 2> /dev/null)" != "$needs" ]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    # shellcheck disable=SC2086 # several
    npm install --prefix "$tools" --no-audit --no-fund --loglevel=error $needs > /dev/null
    echo "$needs" > "$tools/needs"
  fi
  node node/build.mjs "$scratch/packed"
  mkdir "$scratch/place"
  echo '{"private":true}' > "$scratch/place/package.json"
  (cd "$scratch/place" && npm install --no-audit --no-fund --loglevel=error "$scratch"/packed/*.tgz > /dev/null)
  # The first thing that a newcomer does.
  cp ../golden/claude/cli_edit.out.jsonl "$scratch/place/session.jsonl"
  (cd "$scratch/place" && npx --no-install agentglot show session.jsonl | grep -q .)
  cp -r node/tests "$scratch/place/tests"
  export AGENTGLOT_ROOT AGENTGLOT_TOOLS=$tools
  AGENTGLOT_ROOT=$(cd .. && pwd)
  for node in node "$tools/node_modules/node/bin/node"; do
    echo "-- Node $("$node" --version)"
    (cd "$scratch/place" && "$node" --test "$@" tests/*.test.mjs)
  done
}

if [ "$what" != node ]; then python_package "$@"; fi
if [ "$what" != python ]; then node_package "$@"; fi
