#!/usr/bin/env bash
# Makes the packages of agentglot that this machine can make, and SHA256SUMS of them, in target/packages.
#
# Usage: dist/build.sh [--target TRIPLE] [--binary FILE] [programs|wheel|npm]…
#
#   programs  a tarball (program, manual pages, completions), install.sh, and a .deb where cargo-deb is installed
#   wheel     the Python package, where bindings/python and pip are
#   npm       the Node package, where bindings/node and npm are
#
# Without a name: all of them. --binary packs a program that was built otherwise; without it, it is built with the profile `dist`.
# In the environment, FLAGS are further words for `cargo build`, WHEEL_ARGS those for `maturin build` in place of its own,
# NPM_ARGS those for bindings/node/build.mjs (`--all`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target='' binary='' what=()
while [ $# -gt 0 ]; do
  case $1 in
    --target) target=$2; shift 2 ;;
    --binary) binary=$2; shift 2 ;;
    programs | wheel | npm) what+=("$1"); shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
[ ${#what[@]} -gt 0 ] || what=(programs wheel npm)

built=${CARGO_TARGET_DIR:-target}
packages=$built/packages
host=$(rustc -vV | sed -n 's/^host: //p')
triple=${target:-$host}
mkdir -p "$packages"

# The commands of the program, or those below one of them.
commands() {
  "$stage/$name" help "$@" | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\)  .*/\1/p' | grep -vx help || true
}

programs() {
  local name=agentglot stage=dist/stage features=''
  case $triple in *windows*) name=agentglot.exe ;; esac
  if [ -z "$binary" ]; then
    # Tables of logs are a feature of what is published.
    if grep -q '^columnar = ' Cargo.toml && [ -z "${FLAGS:-}" ]; then features='--features columnar'; fi
    # shellcheck disable=SC2086 # They are words.
    cargo build --profile dist --locked --bin agentglot ${target:+--target "$target"} $features ${FLAGS:-}
    binary=$built${target:+/$target}/dist/$name
  fi
  rm -rf "$stage"
  mkdir -p "$stage/man" "$stage/completions"
  cp "$binary" "$stage/$name"
  cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage/"
  "$stage/$name" completions bash > "$stage/completions/agentglot.bash"
  "$stage/$name" completions zsh > "$stage/completions/_agentglot"
  "$stage/$name" completions fish > "$stage/completions/agentglot.fish"
  "$stage/$name" man > "$stage/man/agentglot.1"
  local command below
  for command in $(commands); do
    "$stage/$name" man "$command" > "$stage/man/agentglot-$command.1"
    for below in $(commands "$command"); do
      "$stage/$name" man "$command" "$below" > "$stage/man/agentglot-$command-$below.1"
    done
  done

  # In the order of names and of nobody, so that the same content gives the same bytes.
  local tarball=$packages/agentglot-$triple.tar same=()
  if tar --version 2> /dev/null | grep -q GNU; then
    same=(--sort=name --owner=0 --group=0 --numeric-owner "--mtime=@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}")
  fi
  rm -f "$tarball.gz"
  tar -C "$stage" "${same[@]}" -cf "$tarball" .
  gzip -9n "$tarball"
  cp dist/install.sh "$packages/"

  if command -v cargo-deb > /dev/null && [ -n "${triple##*musl}" ] && [ -n "${triple##*darwin}" ] && [ -n "${triple##*msvc}" ]; then
    rm -f "$packages"/*.deb
    cargo deb --no-build --no-strip ${target:+--target "$target"} --output "$packages/"
  else
    echo "no .deb: cargo-deb is not installed, or $triple is not Debian's"
  fi
}

wheel() {
  if [ ! -f bindings/python/pyproject.toml ] || ! command -v python3 > /dev/null; then
    echo "no wheel: bindings/python or Python is not here"
    return
  fi
  rm -f "$packages"/*.whl
  local out
  out=$(cd "$packages" && pwd)
  # The wheel holds the program, too.
  if [ -n "$binary" ]; then
    AGENTGLOT_PROGRAM=$(realpath "$binary")
    export AGENTGLOT_PROGRAM
  fi
  AGENTGLOT_PROFILE=dist \
    python3 -m pip wheel --quiet --no-deps --wheel-dir "$out" ${WHEEL_ARGS:+--config-settings "build-args=$WHEEL_ARGS"} ./bindings/python
}

npm_package() {
  if [ ! -f bindings/node/package.json ] || ! command -v npm > /dev/null; then
    echo "no npm package: bindings/node or npm is not here"
    return
  fi
  rm -f "$packages"/*.tgz
  local out
  out=$(cd "$packages" && pwd)
  # The package for the system holds the program, too.
  if [ -n "$binary" ]; then
    AGENTGLOT_PROGRAM=$(realpath "$binary")
    export AGENTGLOT_PROGRAM
  fi
  # shellcheck disable=SC2086 # They are words.
  AGENTGLOT_PROFILE=dist node bindings/node/build.mjs "$out" ${NPM_ARGS:-}
}

for one in "${what[@]}"; do
  case $one in
    npm) npm_package ;;
    *) "$one" ;;
  esac
done

sums=sha256sum
command -v sha256sum > /dev/null || sums='shasum -a 256'
# shellcheck disable=SC2086 # A command and its words.
(cd "$packages" && rm -f SHA256SUMS && $sums -- * > ../SHA256SUMS.new && mv ../SHA256SUMS.new SHA256SUMS)
ls -l "$packages"
