// Flags that every command takes, before its name and behind it.

import { CONFIRM_FLAGS } from './confirm.ts';
import { OUTPUT_FLAGS } from './output-flags.ts';

/** The answers to questions are taken by commands that ask none, too: a script gives them to all alike. */
export const GLOBAL_FLAGS = { ...OUTPUT_FLAGS, ...CONFIRM_FLAGS } as const;
