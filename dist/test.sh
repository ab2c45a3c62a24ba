#!/usr/bin/env bash
# Installs each package of target/packages into an empty folder, and does there what the README does first.
# Usage: dist/test.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=$(cd "${CARGO_TARGET_DIR:-target}/packages" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tried=0

# The command of the npm package is a script, whose interpreter may lie anywhere.
node=$(command -v node || true)

# The README's first command, with the program at $1.
first_command() {
  local words expected=golden/expected/claude/cli_parallel_partial.qwen-stream-chunk-json.jsonl
  words=$(sed -n 's/^cargo run --release -- //p' README.md | head -n 1)
  # shellcheck disable=SC2086 # They are words.
  env -i HOME="$scratch" PATH="${node:+${node%/*}:}/usr/bin:/bin" "$1" $words 2> "$scratch/told" | cmp - "$expected"
  tried=$((tried + 1))
}

echo "-- checksums"
(cd "$packages" && { sha256sum -c SHA256SUMS > /dev/null 2>&1 || shasum -a 256 -c SHA256SUMS > /dev/null; })

tarball=$(find "$packages" -name 'agentglot-*.tar.gz' | head -n 1)
if [ -n "$tarball" ]; then
  echo "-- ${tarball##*/}"
  mkdir "$scratch/tarball"
  tar -xzf "$tarball" -C "$scratch/tarball"
  first_command "$scratch/tarball/agentglot"
  test -s "$scratch/tarball/man/agentglot-convert.1"
  bash -n "$scratch/tarball/completions/agentglot.bash"

  echo "-- install.sh"
  sh "$packages/install.sh" --prefix "$scratch/prefix" --from "file://$packages" > /dev/null
  first_command "$scratch/prefix/bin/agentglot"
  # What is not what the checksum says is not installed.
  mkdir "$scratch/false"
  cp "$tarball" "$packages/SHA256SUMS" "$scratch/false/"
  printf x >> "$scratch/false/${tarball##*/}"
  if sh "$packages/install.sh" --prefix "$scratch/nothing" --from "file://$scratch/false" 2> "$scratch/told"; then
    echo "a tarball with a wrong checksum was installed"
    exit 1
  fi
  grep -q 'nothing was installed' "$scratch/told"
  test ! -e "$scratch/nothing"
fi

deb=$(find "$packages" -name '*.deb' | head -n 1)
if [ -n "$deb" ] && command -v dpkg > /dev/null; then
  echo "-- ${deb##*/}"
  root=$scratch/root
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status"
  # The libraries that it depends on are those of this machine.
  dpkg --root="$root" --log="$scratch/dpkg.log" --force-not-root --force-depends --force-bad-path -i "$deb" > "$scratch/told" 2>&1 || { cat "$scratch/told"; exit 1; }
  first_command "$root/usr/bin/agentglot"
  test "$(ls "$root/usr/bin")" = agentglot
  for file in man/man1/agentglot.1.gz man/man1/agentglot-convert.1.gz bash-completion/completions/agentglot zsh/vendor-completions/_agentglot \
    fish/vendor_completions.d/agentglot.fish; do
    test -s "$root/usr/share/$file"
  done
fi

for wheel in "$packages"/*.whl; do
  [ -e "$wheel" ] || continue
  echo "-- ${wheel##*/}"
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/python" -m pip install --quiet --no-index --no-deps "$wheel"
  first_command "$scratch/venv/bin/agentglot"
  (cd "$scratch" && venv/bin/python -c 'import agentglot; print(agentglot.__version__)')
done

# The package for this system goes with the one that names it.
if compgen -G "$packages/*.tgz" > /dev/null; then
  echo "-- $(cd "$packages" && echo *.tgz)"
  mkdir "$scratch/node"
  (cd "$scratch/node" && npm install --no-audit --no-fund --loglevel=error "$(realpath "$packages")"/*.tgz)
  first_command "$scratch/node/node_modules/.bin/agentglot"
fi

[ "$tried" -gt 0 ] || { echo "there is no package in $packages"; exit 1; }
echo "$tried packages do what the README does first"
