#!/bin/sh
# Installs agentglot from its published tarball, after its checksum was compared.
#
# Usage: install.sh [--prefix DIR] [--version X.Y.Z] [--from URL]
#
#   --prefix   where to: DIR/bin, DIR/share/man, DIR/share with completions [default: ~/.local]
#   --version  which version [default: the latest]
#   --from     the folder of the tarball and of SHA256SUMS; https:// or file:// [default: the releases on GitHub]
set -eu

fail() { echo "install.sh: $*" >&2; exit 1; }

prefix="${HOME:-}/.local" version='' from=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --version | --from) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    --help | -h) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $1 (--help tells more)" ;;
  esac
  case $1 in
    --prefix) prefix=$2 ;;
    --version) version=$2 ;;
    --from) from=$2 ;;
  esac
  shift 2
done
if [ -z "$from" ]; then
  releases=https://github.com/agentglot/agentglot/releases
  if [ -n "$version" ]; then from=$releases/download/v$version; else from=$releases/latest/download; fi
fi

case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no package for this processor ($(uname -m)); cargo install agentglot builds the program" ;;
esac
case $(uname -s) in
  # A system without glibc gets the program that needs no library.
  Linux) if ldd --version 2>&1 | grep -qi musl; then system=unknown-linux-musl; else system=unknown-linux-gnu; fi ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no package for this system ($(uname -s)); cargo install agentglot builds the program" ;;
esac
tarball=agentglot-$machine-$system.tar.gz

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  case $from in
    file://*) cp "${from#file://}/$1" "$folder/$1" || fail "$from/$1 cannot be read" ;;
    https://* | http://127.0.0.1* | http://localhost*)
      if command -v curl > /dev/null; then
        curl -fsSL --retry 2 --connect-timeout 20 --max-time 600 -o "$folder/$1" "$from/$1" || fail "$from/$1 cannot be fetched"
      elif command -v wget > /dev/null; then
        wget -q -T 60 -O "$folder/$1" "$from/$1" || fail "$from/$1 cannot be fetched"
      else
        fail "curl or wget is needed"
      fi
      ;;
    *) fail "--from takes https:// or file://" ;;
  esac
}
fetch "$tarball"
fetch SHA256SUMS

wanted=$(awk -v name="$tarball" '$2 == name || $2 == "*" name { print $1 }' "$folder/SHA256SUMS")
[ -n "$wanted" ] || fail "SHA256SUMS does not name $tarball"
if command -v sha256sum > /dev/null; then
  found=$(sha256sum "$folder/$tarball")
else
  found=$(shasum -a 256 "$folder/$tarball")
fi
found=${found%% *}
[ "$found" = "$wanted" ] || fail "the checksum of $tarball is $found, not $wanted: nothing was installed"

mkdir "$folder/new"
tar -xzf "$folder/$tarball" -C "$folder/new" || fail "$tarball cannot be unpacked"
"$folder/new/agentglot" --version > /dev/null || fail "the program does not run here: nothing was installed"

mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" \
  "$prefix/share/fish/vendor_completions.d"
# In one step, even where the program is running.
cp "$folder/new/agentglot" "$prefix/bin/.agentglot.new"
chmod 755 "$prefix/bin/.agentglot.new"
mv -f "$prefix/bin/.agentglot.new" "$prefix/bin/agentglot"
cp "$folder/new/man/"*.1 "$prefix/share/man/man1/"
cp "$folder/new/completions/agentglot.bash" "$prefix/share/bash-completion/completions/agentglot"
cp "$folder/new/completions/_agentglot" "$prefix/share/zsh/site-functions/_agentglot"
cp "$folder/new/completions/agentglot.fish" "$prefix/share/fish/vendor_completions.d/agentglot.fish"

echo "$("$prefix/bin/agentglot" --version) is in $prefix/bin"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "add it to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
