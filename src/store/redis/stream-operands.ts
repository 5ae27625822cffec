// The first operands of all scripts on a group: its keys, and the arguments 1 to 8 of `stream-scripts.ts`.

import type { GroupPlace } from '../commands/stream/place.ts';
import type { CommandWorld } from '../thread/contract.ts';
import type { CommandParts } from './commands.ts';
import { groupKeys, memberOf } from './stream-keys.ts';

export interface Operands {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** `tag`: of the write; a script that only reads needs none. */
export function operandsOf(
  { keyPrefix, newTag }: CommandParts,
  place: GroupPlace,
  { nowMs, limits }: Pick<CommandWorld, 'nowMs' | 'limits'>,
  tag = '',
): Operands {
  const { all, channel } = groupKeys(keyPrefix, place);
  const kept = [limits.streamHistoryEvents, limits.streamHistoryMs, limits.streamHistoryBytes];
  return { keys: all, args: [memberOf(place), channel, String(nowMs), tag, newTag(), ...kept.map(String)] };
}
