// Every command that a store of this machine runs. The place in the list is how a batch names a command: both ends
// read this very list.

import type { StoreCommand } from './contract.ts';
import { CRON_COMMANDS } from './cron/index.ts';
import { OUTBOX_COMMANDS } from './outbox/index.ts';
import { QUEUE_COMMANDS } from './queue/index.ts';
import { STATE_COMMANDS } from './state/index.ts';
import { STREAM_COMMANDS } from './stream/index.ts';
import { TRIGGER_COMMANDS } from './triggers/index.ts';

export const COMMANDS: readonly StoreCommand[] = [
  ...STATE_COMMANDS,
  ...STREAM_COMMANDS,
  ...CRON_COMMANDS,
  ...TRIGGER_COMMANDS,
  ...QUEUE_COMMANDS,
  ...OUTBOX_COMMANDS,
];

export function commandNumber(name: string): number {
  const number = NUMBERS.get(name);
  if (number === undefined) throw new Error(`There is no store command ${name}`);
  return number;
}

const NUMBERS = new Map(COMMANDS.map(({ name }, index) => [name, index]));
