// Flags that many commands share: those that every command accepts, before and after its name, and those of the
// commands that connect to a running engine.

import { CALL_TIMEOUT_MS_MAX } from '../../protocol/frames/limits.ts';
import { CONFIRM_FLAGS } from '../text/confirm.ts';
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

/** Commands that ask no question accept the answer flags, too: a script can pass them to all commands. */
export const GLOBAL_FLAGS = { ...OUTPUT_FLAGS, ...CONFIRM_FLAGS } as const;

export const CONNECTION_FLAGS = {
  url: {
    kind: 'text',
    placeholder: '<address>',
    env: 'SVC_URL',
    fallback: 'ws://127.0.0.1:49134',
    help: 'Address of the engine.',
  },
  'token-file': {
    kind: 'text',
    placeholder: '<file>',
    env: 'SVC_TOKEN_FILE',
    help: 'File that holds the bridge token. SVC_TOKEN may hold the token itself.',
  },
  context: {
    kind: 'text',
    placeholder: '<name>',
    env: 'SVC_CONTEXT',
    help: 'Name of a saved engine; see: svc context list.',
  },
  timeout: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '30s',
    maxMs: CALL_TIMEOUT_MS_MAX,
    help: 'How long to wait for the engine and for each answer.',
  },
} as const satisfies FlagTable;
