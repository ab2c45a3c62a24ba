
# Bash parts words at colons, and the names of formats have one: they are put together again, and what stands before the last colon is
# taken away from what fits, because Bash puts in the last part only.
_agentglot() {
    local words=() cword=0 i word
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 1)) && [[ $word == : || ${words[${#words[@]} - 1]} == *: ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        if ((i <= COMP_CWORD)); then
            cword=$((${#words[@]} - 1))
        fi
    done
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$cword
    local current=${words[cword]}
    _clap_complete_agentglot "$1" "$current" "${3-}"
    # What is put in is read by the shell: names of files are anybody's. Behind an open quote Bash itself completes them.
    local fit=("${COMPREPLY[@]}")
    COMPREPLY=()
    for word in "${fit[@]}"; do
        if [[ $word != *[!-[:alnum:]_./:=@%+,]* ]]; then
            COMPREPLY+=("$word")
        elif [[ $current != *[\'\"\\]* ]]; then
            printf -v word %q "$word"
            COMPREPLY+=("$word")
        fi
    done
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%:*}:"}")
    fi
}
complete -o nospace -o bashdefault -F _agentglot agentglot
