// Output flags of every command.

import type { FlagTable } from './flags.ts';

export const OUTPUT_FLAGS = {
  output: {
    kind: 'choice',
    short: 'o',
    placeholder: '<format>',
    choices: ['table', 'wide', 'json', 'jsonl', 'csv', 'text', 'nagios', 'prometheus'],
    help: 'Output format; see: svc help output.',
  },
  json: { kind: 'switch', help: 'Same as -o json; errors become JSON as well.' },
  quiet: { kind: 'switch', short: 'q', help: 'Only results, warnings and errors.' },
  verbose: { kind: 'switch', short: 'v', help: 'Print more on stderr, and full stacks. Twice: also every frame.' },
  color: {
    kind: 'choice',
    placeholder: '<when>',
    choices: ['auto', 'always', 'never'],
    fallback: 'auto',
    help: 'When to use colour.',
  },
  time: {
    kind: 'choice',
    placeholder: '<style>',
    choices: ['relative', 'local', 'utc'],
    fallback: 'relative',
    help: 'Format of times.',
  },
} as const satisfies FlagTable;
