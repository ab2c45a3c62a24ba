#!/usr/bin/env bash
# Fills adapters/fuzz/corpus from the golden logs: each log for `decode` below a line with its format, and for `pair` below one that
# chooses a target. Run it again at any time; what fuzzing found stays.
set -euo pipefail
cd "$(dirname "$0")"
golden=../../golden
# Long logs teach the fuzzer nothing that short ones don't, and slow it down.
most=24576

put() { # put TARGET HEAD FILE
    { printf '%b' "$2"; cat "$3"; } > "corpus/$1/seed-$(echo "$3" | sed "s#^$golden/##; s#[^A-Za-z0-9._-]#_#g")"
}

mkdir -p corpus/{decode,pair,frame}
count=0
# The manifest says of each log how it is written.
while read -r path format; do
    file=$golden/$path
    [ "$(wc -c < "$file")" -le "$most" ] || continue
    put decode "$format $((count % 64))\n" "$file"
    # Every target in turn, with changing options.
    put pair "$format $((count % 256)) $((count * 37 % 256))\n" "$file"
    put frame '\x10\xff' "$file"
    count=$((count + 1))
done < <(sed -n 's/^path = "\(.*\)"$/\1/p; s/^dialect = "\(.*\)"$/\1/p' "$golden/MANIFEST.toml" | paste -d ' ' - -)

# The canonical events have no goldens of their own: a few lines that name each kind of thing.
printf '%s\n' 'agentglot:events 0' '{"agentglot":"events","version":1,"source":"claude"}
{"event":"session","session":"s","cwd":"/w","model":"m","tools":["Read"],"opens_turn":true}
{"event":"prompt","session":"s","source":"host","content":"hi"}
{"event":"round_start","session":"s","round":"r1","model":"m","usage":{"input":3,"output":1}}
{"event":"block_start","session":"s","index":0,"block":{"type":"text"}}
{"event":"delta","session":"s","index":0,"text":"Hel"}
{"event":"block_stop","session":"s","index":0}
{"event":"reply","session":"s","round":"r1","blocks":[{"type":"thinking","text":"t","signature":"x"},{"type":"call","id":"c","name":"Read","kind":"read","input":{"file_path":"a"}}],"stop":"tool_use"}
{"event":"tool_result","session":"s","call":"c","status":"success","content":"text"}
{"event":"request","session":"s","request_id":"q","subtype":"can_use_tool","permission":{"name":"Read","input":{}}}
{"event":"outcome","session":"s","outcome":"success","is_error":false,"text":"done","usage":{"scope":"turn","input":3,"output":9}}
{"input":"prompt","source":"host","content":[{"type":"text","text":"again"}]}
{"event":"noise","text":"plain"}' > corpus/decode/seed-every-kind

for target in corpus/*; do
    echo "$(basename "$target"): $(find "$target" -type f | wc -l) inputs"
done
