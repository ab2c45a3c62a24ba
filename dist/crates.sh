#!/usr/bin/env bash
# Packs all crates as `cargo publish` would, and compiles the program from what was packed: nothing that it needs lies outside.
# With --install DIR it is installed there with `cargo install`, too. Usage: dist/crates.sh [--install DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
install=''
if [ "${1:-}" = --install ]; then
  mkdir -p "$2"
  install=$(cd "$2" && pwd)
fi

built=${CARGO_TARGET_DIR:-target}
# What CI has not committed yet is packed, too.
cargo package --workspace --no-verify --allow-dirty --locked --quiet 2>&1 | { grep -v 'is not included in the published package$' || true; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
patches=()
for name in agentglot-adapters agentglot-process agentglot-models agentglot-agent agentglot-columns agentglot; do
  tar -xzf "$built/package/$name-$version.crate" -C "$scratch"
  [ "$name" = agentglot ] || patches+=(--config "patch.crates-io.$name.path='$scratch/$name-$version'")
done
cd "$scratch/agentglot-$version"
# Its own lock names registry crates that are not published yet.
cargo check --quiet --bin agentglot "${patches[@]}"
if [ -n "$install" ]; then
  cargo install --quiet --debug --path . --root "$install" "${patches[@]}"
  "$install/bin/agentglot" --version
fi
echo "the program compiles from its packages"
