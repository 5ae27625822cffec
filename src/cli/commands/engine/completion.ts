// `svc completion`: the script of each shell. It passes the words to `svc __complete` and shows the answer.

import { defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof SHELLS)[number];

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print a shell script that completes svc commands.',
  operands: { usage: '<bash|zsh|fish|powershell>', min: 1, max: 1, help: 'The shell.', choices: SHELLS },
  details: [
    'Completes commands, flags and their values, and names of functions, queues, scopes, keys, streams, triggers and ' +
      'workers from the running engine. Put the line of the first example into ~/.bashrc.',
  ],
  flags: {},
  formats: ['table'],
  examples: [
    { line: 'svc completion bash', shows: 'For ~/.bashrc: source <(svc completion bash)' },
    { line: 'svc completion fish', shows: 'For fish: svc completion fish | source' },
  ],
  async run({ operands, output, terminal }) {
    const shell = SHELLS.find((known) => known === operands[0]);
    if (shell === undefined) throw usageFailure(`Unknown shell '${operands[0]}'. Known: ${SHELLS.join(', ')}.`);
    terminal.out.write(SCRIPTS[shell]);
    if (terminal.startedAs !== 'svc') output.note(NOT_ON_PATH);
    return EXIT.done;
  },
});

const NOT_ON_PATH = 'Completes svc, which is not on your PATH here: export PATH="$(npm root)/.bin:$PATH"';

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

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
