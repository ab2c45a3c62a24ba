#!/usr/bin/env bash
# Fills adapters/fuzz/corpus from the golden logs: each log under the target of its dialect, and under `pair` in front of the
# bytes that choose some pairs. Run it again at any time; what fuzzing found stays.
set -euo pipefail
cd "$(dirname "$0")"
golden=../../golden
# Long logs teach the fuzzer nothing that short ones don't, and slow it down.
most=24576

put() { # put TARGET PREFIX FILE
    mkdir -p "corpus/$1"
    local name
    name=$(echo "$3" | sed "s#^$golden/##; s#[^A-Za-z0-9._-]#_#g")
    { printf "%b" "$2"; cat "$3"; } > "corpus/$1/seed-$(printf "%b" "$2" | od -An -tx1 | tr -d ' \n')-$name"
}

pair=0
while IFS= read -r file; do
    [ "$(wc -c < "$file")" -le "$most" ] || continue
    base=${file#"$golden"/}
    case $base in
        expected/*) continue ;;
        claude/* | hostile/claude-* | hostile/mixed-*) target=decode_claude from=0 ;;
        qwen-code/* | hostile/qwen-code-*) target=decode_qwen_code from=4 ;;
        qwen/* | hostile/qwen-*) target=decode_qwen from=2 ;;
        tricode/* | hostile/tricode-*) target=decode_tricode from=6 ;;
        cursor/* | hostile/cursor-*) target=decode_cursor from=7 ;;
        *) continue ;;
    esac
    case $base in *.chunks.jsonl | *bad-chunks*) from=3 ;; esac
    mode='\x00'
    case $base in *.json) mode='\x01' from=$((from + 1)) ;; esac
    [ "$from" != 3 ] || mode='\x01'
    put "$target" "$mode" "$file"
    put frame '\x10\xff' "$file"
    # Every target in turn, with changing options.
    to=$((pair % 15)) flags=$((pair * 37 % 256))
    put pair "$(printf '\\x%02x\\x%02x\\x%02x' "$from" "$to" "$flags")" "$file"
    pair=$((pair + 1))
done < <(find "$golden" -type f \( -name '*.jsonl' -o -name '*.json' \) | sort)

# The canonical events have no goldens of their own: a few lines that name each kind of thing.
mkdir -p corpus/decode_agentglot
printf '\x00%s\n' '{"agentglot":"events","version":1,"source":"claude"}
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
{"event":"noise","text":"plain"}' > corpus/decode_agentglot/seed-every-kind

for target in corpus/*; do
    echo "$(basename "$target"): $(find "$target" -type f | wc -l) inputs"
done
