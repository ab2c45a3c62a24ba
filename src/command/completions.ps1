Register-ArgumentCompleter -Native -CommandName agentglot -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What was typed is handed over word by word, as it stands: whoever evaluates it runs it.
    $words = @('agentglot')
    $end = 0
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        $extent = $element.Extent
        if ($extent.StartOffset -ge $cursorPosition) {
            break
        }
        $end = $extent.EndOffset
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst] -and $end -le $cursorPosition) {
            $words += $element.Value
        } else {
            $words += $extent.Text.Substring(0, [math]::Min($extent.Text.Length, $cursorPosition - $extent.StartOffset))
        }
    }
    if ($cursorPosition -gt $end) {
        # Older versions hand over no empty word.
        $words += $(if ($PSNativeCommandArgumentPassing -in 'Standard', 'Windows') { '' } else { '""' })
    }

    $before = $env:AGENTGLOT_COMPLETE
    $env:AGENTGLOT_COMPLETE = 'powershell'
    try {
        $fit = & agentglot -- $words
    } finally {
        # Without a value it is removed.
        $env:AGENTGLOT_COMPLETE = $before
    }

    $fit | ForEach-Object {
        $word, $help = $_.Split("`t", 2)
        # What is put in is read by the shell: names of files are anybody's.
        $text = if ($word -match '^[A-Za-z0-9_./:+-]+$') {
            $word
        } else {
            "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'"
        }
        $help = if ($help) { $help } else { $word }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $help)
    }
}
