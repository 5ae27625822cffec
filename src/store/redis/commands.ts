// Shared by the commands of state and streams when Redis keeps the data.

import type { RedisLink } from '../../effects/redis.ts';
import type { ListEntry } from '../commands/state/replies.ts';
import type { CommandWorld, StoreReply } from '../thread/contract.ts';
import type { Lanes } from './lanes.ts';
import { bytesIn, corrupt, openValue } from './record.ts';

/** A command: it validates its input and runs in one step of Redis. Rejects with a `Refusal`. */
export type ExtCommand = (input: Buffer, world: CommandWorld) => Promise<StoreReply>;

export interface CommandParts {
  readonly link: Pick<RedisLink, 'run' | 'runScript'>;
  /** The prefix of every key and channel. */
  readonly keyPrefix: string;
  readonly lanes: Lanes;
  /** Returns a name for a new write. */
  readonly newTag: () => string;
}

/** How often an update is repeated because other engines wrote first. Each time, one of them made progress. */
export const ATTEMPTS_MAX = 200;

/** A name as part of a key: without braces, which mark the part that decides where a key lives, and without a slash. */
export function inKey(name: string | Buffer): string {
  return encodeURIComponent(name.toString());
}

/** Names and values in turn. */
export function entriesIn(found: readonly unknown[]): ListEntry[] {
  const entries: ListEntry[] = [];
  for (let index = 0; index < found.length; index += 2) {
    const { json, writtenMs } = openValue(found[index + 1]);
    if (json === undefined) throw corrupt('a name without its value');
    entries.push({ key: bytesIn(found[index]), value: json, writtenMs });
  }
  return entries;
}
