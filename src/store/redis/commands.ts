// Shared by the commands of state and streams when Redis keeps the data.

import type { RedisLink } from '../../effects/redis.ts';
import type { ListEntry } from '../commands/state/replies.ts';
import type { CommandContext, StoreReply } from '../thread/contract.ts';
import type { updateEvaluator } from './evaluate-update.ts';
import { bytesIn, corrupt, openValue } from './record.ts';

/** A command: it validates its input and runs in one step of Redis. Rejects with a `Refusal`. */
export type RedisCommand = (input: Buffer, context: CommandContext) => Promise<StoreReply>;

export interface RedisAccess {
  readonly link: Pick<RedisLink, 'run' | 'runScript'>;
  /** The prefix of every key and channel. */
  readonly keyPrefix: string;
  readonly lanes: Lanes;
  /** Returns a name for a new write. */
  readonly newTag: () => string;
  readonly evaluate: ReturnType<typeof updateEvaluator>;
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

interface Waiting {
  readonly begin: () => void;
  readonly holds: boolean;
}

/**
 * Orders the writes of one engine: an update reads, computes and then writes, and no other write of this engine comes
 * in between. Writes of other engines are detected when the update is written.
 *
 * Commands that are sent at once use one connection, which keeps their order. So only updates hold a lane, and only
 * commands that come while one is held wait.
 */
export class Lanes {
  /** What waits for the update that holds the lane. A lane exists while it is held. */
  readonly #held = new Map<string, Waiting[]>();

  /** Runs now, or after the updates that came before. */
  pass<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#held.get(lane);
    if (waiting === undefined) return work();
    return new Promise((resolve, reject) => {
      waiting.push({ begin: () => void work().then(resolve, reject), holds: false });
    });
  }

  /** As `pass`, and later commands wait until the work has ended. */
  hold<T>(lane: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (): void => this.#next(lane);
      const begin = (): void => void work().then(resolve, reject).then(end);
      const waiting = this.#held.get(lane);
      if (waiting !== undefined) {
        waiting.push({ begin, holds: true });
        return;
      }
      this.#held.set(lane, []);
      begin();
    });
  }

  #next(lane: string): void {
    const waiting = this.#held.get(lane) ?? [];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.begin();
      if (next.holds) return;
    }
    this.#held.delete(lane);
  }
}
