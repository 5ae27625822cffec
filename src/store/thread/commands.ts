// Every command of a local store. A batch refers to a command by its index in this list: both ends use the same list.

import { OUTBOX_COMMANDS } from '../commands/change-outbox/index.ts';
import { CRON_COMMANDS } from '../commands/cron/index.ts';
import { QUEUE_COMMANDS } from '../commands/queue/index.ts';
import { SECRET_COMMANDS } from '../commands/secrets/index.ts';
import { STATE_COMMANDS } from '../commands/state/index.ts';
import { STREAM_COMMANDS } from '../commands/stream/index.ts';
import { SPACE } from '../kv/keys.ts';
import type { StoreCommand } from './contract.ts';
import { rowCommands } from './rows.ts';

export const COMMANDS: readonly StoreCommand[] = [
  ...STATE_COMMANDS,
  ...STREAM_COMMANDS,
  ...CRON_COMMANDS,
  ...rowCommands(SPACE.triggers, 'triggers'),
  ...QUEUE_COMMANDS,
  ...OUTBOX_COMMANDS,
  ...rowCommands(SPACE.reservations, 'reservations'),
  ...SECRET_COMMANDS,
];

export function commandNumber(name: string): number {
  const number = NUMBERS.get(name);
  if (number === undefined) throw new Error(`There is no store command ${name}`);
  return number;
}

const NUMBERS = new Map(COMMANDS.map(({ name }, index) => [name, index]));
