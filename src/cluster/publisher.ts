// Writes the functions of this engine's workers into the bucket of registrations.
//
// What should be there is compared with what is known to be there, one function at a time, so that an interruption or a
// failed write needs no code of its own: the difference is written again.
// Invariant: changes of one function are written one after the other.

import { keyPart } from '../core/cluster/bucket-keys.ts';
import type { Counters } from '../core/registry/counters.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import { byteStringToText } from '../protocol/json/byte-string.ts';
import type { RouterContext } from '../router/context.ts';

/** One registration in the bucket: what routing needs of it. */
export interface RegistrationValue {
  /** Where the key holds only its digest. */
  readonly id?: string;
  /** JSON, as the worker wrote it: rules about metadata read it. */
  readonly metadata?: string;
}

export interface PublisherOptions {
  readonly engineId: string;
  readonly bucket: Bucket;
  readonly functions: RouterContext['functions'];
  readonly clock: Clock;
  readonly counters: Counters;
  readonly logger: Logger;
  /** Of one entry. */
  readonly bytesMax: number;
}

/** Writes that wait for their confirmation at a time. */
const WRITES_MAX = 256;
const RETRY_MS = 500;

export class Publisher {
  readonly #options: PublisherOptions;
  /** Functions whose entry may differ from what is written. */
  readonly #changed = new Set<string>();
  readonly #writing = new Set<string>();
  readonly #written = new Map<string, string>();
  #isScheduled = false;
  #isStopped = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    options.functions.onWorkersChanged = (id) => this.#note(id);
    for (const { id, kind } of options.functions.all()) if (kind === 'worker') this.#note(id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.functions.onWorkersChanged = undefined;
  }

  #note(id: string): void {
    this.#changed.add(id);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.clock.afterTurn(() => {
      this.#isScheduled = false;
      this.#writeChanges();
    });
  }

  #writeChanges(): void {
    for (const id of this.#changed) {
      if (this.#isStopped || this.#writing.size >= WRITES_MAX) return;
      if (this.#writing.has(id)) continue;
      this.#changed.delete(id);
      void this.#write(id);
    }
  }

  async #write(id: string): Promise<void> {
    const { bucket, engineId, clock } = this.#options;
    const value = this.#valueOf(id);
    if (value === this.#written.get(id)) return;
    const key = `${engineId}.f.${keyPart(id).part}`;
    this.#writing.add(id);
    try {
      if (value === undefined) {
        await bucket.delete(key);
        this.#written.delete(id);
      } else {
        await bucket.put(key, value);
        this.#written.set(id, value);
      }
    } catch {
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      this.#changed.add(id);
    } finally {
      this.#writing.delete(id);
    }
    this.#writeChanges();
  }

  /** Only what trusted workers offer: other engines do not see what restricted connections register. */
  #valueOf(id: string): string | undefined {
    const { functions, bytesMax, counters, logger } = this.#options;
    const entry = functions.get(id);
    if (entry?.kind !== 'worker') return undefined;
    const index = entry.executors.findLastIndex(({ access }) => access === undefined);
    if (index < 0) return undefined;
    const metadata = entry.specs[index]?.metadata;
    const value: RegistrationValue = {
      ...(keyPart(id).isDigest && { id }),
      ...(metadata !== undefined && { metadata: byteStringToText(metadata) }),
    };
    const text = JSON.stringify(value);
    if (text.length <= bytesMax) return text;
    counters.count('cluster.registrations_too_large');
    logger.warn('A function can be called on this engine only: its metadata is too large for the cluster', {
      ...{ function_id: id, bytes: text.length, limit: bytesMax },
    });
    return undefined;
  }
}
