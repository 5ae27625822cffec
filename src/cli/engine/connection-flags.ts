// Flags of the commands that connect to a running engine. Their flag tables include this one.

import { CALL_TIMEOUT_MS_MAX } from '../../protocol/frames/limits.ts';
import type { FlagTable } from '../kernel/flags.ts';

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
