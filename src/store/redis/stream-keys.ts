// The keys of streams in Redis. All keys of a (stream, group) share the part in braces.
//
//   {s/g}:items    hash      items by their id
//   {s/g}:ids      ordered   their ids
//   {s/g}:head     hash      seq and tag of the last event, bytes of the history
//   {s/g}:history  list      events, the oldest first (`stream-events.ts`)
//   {s/g}:events   channel   events, as they happen
//   groups         ordered   stream and group of all groups that hold items
//   due            scored    groups whose history is to be trimmed at that time
//   floor          number    the first number of a new group
//   epoch          text      names this incarnation of the store (T4)

import type { CommandContext, GroupRef } from '../thread/contract.ts';
import { inKey, type RedisAccess } from './commands.ts';

interface GroupKeys {
  readonly channel: string;
  /** In the order of the scripts' `KEYS`. */
  readonly all: readonly string[];
}

export function groupKeys(keyPrefix: string, ref: GroupRef): GroupKeys {
  const front = frontOf(keyPrefix, ref);
  const { items, ids } = itemKeys(keyPrefix, ref);
  const { due, floor, epoch, groups } = sharedKeys(keyPrefix);
  const all = [`${front}:head`, `${front}:history`, items, ids, due, floor, epoch, groups];
  return { channel: `${front}:events`, all };
}

export function itemKeys(keyPrefix: string, ref: GroupRef): { readonly items: string; readonly ids: string } {
  const front = frontOf(keyPrefix, ref);
  return { items: `${front}:items`, ids: `${front}:ids` };
}

export function sharedKeys(keyPrefix: string) {
  const shared = (what: string): string => `${keyPrefix}stream:${what}`;
  return { due: shared('due'), floor: shared('floor'), epoch: shared('epoch'), groups: shared('groups') };
}

/** A group among all groups, sorted by stream, then by group: no character of a name sorts before the line feed. */
export function memberOf({ stream, group }: GroupRef): string {
  return `${stream}\n${group}`;
}

export function groupOf(member: string): GroupRef {
  const end = member.indexOf('\n');
  return { stream: member.slice(0, end), group: member.slice(end + 1) };
}

/** The groups of one stream, as bounds of `memberOf`. */
export function groupsOf(stream: string): readonly [from: string, to: string] {
  return [`[${stream}\n`, `(${stream}\u000b`];
}

function frontOf(keyPrefix: string, { stream, group }: GroupRef): string {
  return `${keyPrefix}stream:{${inKey(stream)}/${inKey(group)}}`;
}

/** The first operands of all scripts on a group: its keys, and the arguments 1 to 8 of `stream-scripts.ts`. */
interface Operands {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** `tag`: of the write; a script that only reads needs none. */
export function operandsOf(
  { keyPrefix, newTag }: RedisAccess,
  ref: GroupRef,
  { nowMs, limits }: Pick<CommandContext, 'nowMs' | 'limits'>,
  tag = '',
): Operands {
  const { all, channel } = groupKeys(keyPrefix, ref);
  const kept = [limits.streamHistoryEvents, limits.streamHistoryMs, limits.streamHistoryBytes];
  return { keys: all, args: [memberOf(ref), channel, String(nowMs), tag, newTag(), ...kept.map(String)] };
}
