// Flags that every command accepts, before and after its name.

import { CONFIRM_FLAGS } from '../text/confirm.ts';
import { OUTPUT_FLAGS } from './output-flags.ts';

/** Commands that ask no question accept the answer flags, too: a script can pass them to all commands. */
export const GLOBAL_FLAGS = { ...OUTPUT_FLAGS, ...CONFIRM_FLAGS } as const;
