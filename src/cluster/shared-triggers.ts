// Triggers that no connection owns, in a bucket of their own: every engine of the cluster binds them.

import { keyPart } from '../core/cluster/bucket-keys.ts';
import type { Clock } from '../effects/clock.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import { MarkerSweep } from './marker-sweep.ts';

/** The next value of a trigger; `undefined`: it is gone. */
export type TriggerChange = (id: string, value: string | undefined) => void;

/** No id of a trigger is written so. */
const FIRST_KEY = 'cluster.first';

export class SharedTriggers {
  readonly #bucket: Bucket;
  readonly #bytesMax: number;
  readonly #sweep: MarkerSweep;
  /** Those that are there, by key: the id. */
  readonly #known = new Map<string, string>();
  #stopWatch = (): void => {};

  constructor(bucket: Bucket, clock: Clock, bytesMax: number) {
    this.#bucket = bucket;
    this.#bytesMax = bytesMax;
    this.#sweep = new MarkerSweep(bucket, clock);
  }

  /** Before `follow`: a watch reports that it is complete with the last value that is there. It can be repeated. */
  async open(): Promise<void> {
    await this.#bucket.put(FIRST_KEY, '{}');
  }

  /** Resolves when all that are there have been reported. */
  async follow(changed: TriggerChange): Promise<void> {
    /** Keys that came since the watch began; absent once it is complete. */
    let delivered: Set<string> | undefined;
    await new Promise<void>((resolve) => {
      this.#stopWatch = this.#bucket.watch({
        begin: () => {
          delivered = new Set();
        },
        entry: (entry) => {
          const { key, value } = entry;
          this.#sweep.saw(entry);
          if (value === undefined) return this.#gone(key, changed);
          delivered?.add(key);
          const id = idOf(value);
          if (id === undefined) return;
          this.#known.set(key, id);
          changed(id, value);
        },
        complete: () => {
          for (const key of [...this.#known.keys()]) if (delivered?.has(key) !== true) this.#gone(key, changed);
          delivered = undefined;
          resolve();
        },
      });
    });
  }

  /** Why the value cannot be kept. */
  refusalOf(value: string): string | undefined {
    const bytes = Buffer.byteLength(value);
    return bytes <= this.#bytesMax ? undefined : `it takes ${bytes} bytes, over the limit of ${this.#bytesMax}`;
  }

  /** Rejects where it is unknown whether it is kept. */
  async keep(id: string, value: string): Promise<void> {
    await this.#bucket.put(keyPart(id).part, value);
  }

  async remove(id: string): Promise<void> {
    await this.#bucket.delete(keyPart(id).part);
  }

  stop(): void {
    this.#sweep.stop();
    this.#stopWatch();
  }

  #gone(key: string, changed: TriggerChange): void {
    const id = this.#known.get(key);
    this.#known.delete(key);
    if (id !== undefined) changed(id, undefined);
  }
}

/** `undefined`: an engine of another version wrote something else. */
function idOf(value: string): string | undefined {
  try {
    const row: unknown = JSON.parse(value);
    return typeof row === 'object' && row !== null && 'id' in row && typeof row.id === 'string' ? row.id : undefined;
  } catch {
    return undefined;
  }
}
