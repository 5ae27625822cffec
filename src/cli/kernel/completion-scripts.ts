// The completion script of each shell: it passes the words to `svc __complete` and shows the answer.

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# svc completion for bash. Use it now:  source <(svc completion bash)
_svc() {
  local line="\${COMP_LINE:0:COMP_POINT}" words current
  # Bash cuts words at colons, which stand in every function id; the words are taken from the line itself.
  read -r -a words <<< "$line"
  current="\${words[\${#words[@]}-1]}"
  case "$line" in *" ") words+=(""); current="" ;; esac
  # Typed with its path, as node_modules/.bin/svc, it may not be on the PATH.
  local found program="\${words[0]/#~/$HOME}"
  mapfile -t found < <("$program" __complete -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=("\${found[@]}")
  local kept="\${current%"\${current##*:}"}"
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"$kept"}")
  fi
}
complete -o default -F _svc svc
`;

const ZSH = `#compdef svc
# svc completion for zsh. Use it now:  source <(svc completion zsh)
_svc() {
  local -a found
  found=("\${(@f)$(svc __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then compadd -Q -- "\${found[@]}"; else _files; fi
}
compdef _svc svc
`;

const FISH = `# svc completion for fish. Use it now:  svc completion fish | source
function __svc_complete
  set -l words (commandline -opc)
  svc __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c svc -f -a '(__svc_complete)'
`;

const POWERSHELL = `# svc completion for PowerShell. Use it now:
#   svc completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '""' }
  svc __complete -- @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
