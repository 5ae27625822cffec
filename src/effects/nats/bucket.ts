// A bucket of JetStream: values by key, with a revision for each change, that several engines read and write.
//
// What an engine decides rests on its watch alone: it delivers every change in the order in which the leader made them.
// After an interruption it delivers the last value of every key again.

import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import type { KV, KvWatchEntry } from '@nats-io/kv';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

export interface BucketEntry {
  readonly key: string;
  /** `undefined`: the key was deleted. */
  readonly value: string | undefined;
  readonly revision: number;
}

export interface BucketWatch {
  /** What the bucket holds is delivered, for the first time or again. */
  begin(): void;
  /** A change, or a value that the bucket holds when the watch begins. */
  entry(entry: BucketEntry): void;
  /** All values that the bucket held have been delivered. What was not among them is gone. */
  complete(): void;
}

interface BucketParts {
  readonly name: string;
  readonly kv: KV;
  readonly manager: JetStreamManager;
  readonly replicas: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Why NATS cannot be reached now. */
  readonly trouble: () => string | undefined;
}

const WATCH_RETRY_MS = 500;
const WATCH_CHECK_INTERVAL_MS = 1_000;
/** A watch delivers what this engine wrote within a few milliseconds. */
const OWN_WRITE_MS_MAX = 500;
/** What a create answers where the key exists. */
const WRONG_LAST_SEQUENCE = 10_071;

export class Bucket {
  readonly name: string;
  /** How many servers keep it. */
  readonly replicas: number;
  readonly #parts: BucketParts;
  readonly #writeListeners = new Set<(revision: number) => void>();

  constructor(parts: BucketParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.replicas = parts.replicas;
  }

  /** Resolves with the revision. */
  async put(key: string, value: string): Promise<number> {
    return this.#written(await this.#kv.put(key, value));
  }

  /** Rejects where the key exists. */
  async create(key: string, value: string): Promise<number> {
    return this.#written(await this.#kv.create(key, value));
  }

  /** Whether the key did not exist: it exists from now on. Rejects where that is unknown. */
  async claim(key: string): Promise<boolean> {
    try {
      await this.#kv.create(key, '');
      return true;
    } catch (error) {
      if (this.isOutdated(error)) return false;
      throw error;
    }
  }

  async read(key: string): Promise<string | undefined> {
    const entry = await this.#kv.get(key);
    return entry?.operation === 'PUT' ? entry.string() : undefined;
  }

  /** The first value that any engine gave the key: this one, if there is none yet. It never changes. */
  async agree(key: string, value: string): Promise<string> {
    try {
      await this.#kv.create(key, value);
      return value;
    } catch (error) {
      const known = await this.read(key);
      if (known === undefined) throw error;
      return known;
    }
  }

  /**
   * Replaces the value by that which `next` makes of it; `undefined` leaves it. False: it was left, or another engine
   * replaced it meanwhile.
   */
  async exchange(key: string, next: (value: string | undefined) => string | undefined): Promise<boolean> {
    const entry = await this.#kv.get(key);
    const value = next(entry?.operation === 'PUT' ? entry.string() : undefined);
    if (value === undefined) return false;
    try {
      if (entry === null) await this.#kv.create(key, value);
      else await this.#kv.update(key, value, entry.revision);
      return true;
    } catch (error) {
      if (this.isOutdated(error)) return false;
      throw error;
    }
  }

  /** Rejects where the key has another revision. */
  async update(key: string, value: string, revision: number): Promise<number> {
    return this.#written(await this.#kv.update(key, value, revision));
  }

  /** Whether a write was refused because the key has another revision. */
  isOutdated(error: unknown): boolean {
    return error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE;
  }

  /** With a revision: rejects where the key has another one. */
  async delete(key: string, revision?: number): Promise<void> {
    await this.#kv.delete(key, revision === undefined ? undefined : { previousSeq: revision });
  }

  #written(revision: number): number {
    for (const listener of this.#writeListeners) listener(revision);
    return revision;
  }

  /** For one operation. The client would keep it until NATS is back, when it may be wrong (K3). */
  get #kv(): KV {
    return this.#reachable.kv;
  }

  get #streams(): JetStreamManager['streams'] {
    return this.#reachable.manager.streams;
  }

  get #reachable(): BucketParts {
    const trouble = this.#parts.trouble();
    if (trouble !== undefined) throw new Error(`NATS is away: ${trouble}`);
    return this.#parts;
  }

  /** Removes all keys below `prefix.` without a trace: no watch reports it. */
  async purgeBelow(prefix: string): Promise<void> {
    await this.#streams.purge(`KV_${this.name}`, { filter: `$KV.${this.name}.${prefix}.>` });
  }

  /** What one entry holds must not end the watch of all others. */
  #pass(watch: BucketWatch, entry: BucketEntry): void {
    try {
      watch.entry(entry);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.logger.error('An entry of a bucket cannot be read', { bucket: this.name, key: entry.key, reason });
    }
  }

  /** Removes the marker of a deleted key. What was written to the key since stays. */
  async purgeMarker({ key, revision }: Pick<BucketEntry, 'key' | 'revision'>): Promise<void> {
    const filter = `$KV.${this.name}.${key}`;
    await this.#streams.purge(`KV_${this.name}`, { filter, seq: revision + 1 });
  }

  /**
   * Follows the bucket until the returned function is called, over every interruption. The bucket holds at least one
   * value, such as one of the engine that follows it.
   */
  watch(watch: BucketWatch): () => void {
    const { clock, logger } = this.#parts;
    const progress = new WatchProgress();
    let isStopped = false;
    let stop = (): void => {};
    let beganMs = Number.POSITIVE_INFINITY;
    const follow = async (): Promise<void> => {
      beganMs = clock.monotonicMs();
      // Everything up to here is part of what is delivered first.
      progress.begin(await this.#lastRevision());
      const entries = await this.#kv.watch();
      stop = () => entries.stop();
      if (isStopped) return stop();
      watch.begin();
      let isComplete = false;
      for await (const entry of entries) {
        if (isStopped) return;
        progress.delivered(entry.revision);
        this.#pass(watch, entryOf(entry));
        if (isComplete || !entry.isUpdate) continue;
        isComplete = true;
        watch.complete();
      }
    };
    const followOn = (error?: unknown): void => {
      if (isStopped) return;
      const reason = error instanceof Error ? error.message : 'it was closed, or delivered nothing any more';
      logger.warn('The watch of a bucket ended and begins again', { bucket: this.name, reason });
      const hasLasted = clock.monotonicMs() - beganMs > WATCH_RETRY_MS;
      clock.after(hasLasted ? 0 : WATCH_RETRY_MS, () => void follow().then(followOn, followOn));
    };
    // The server that delivered may be lost, which nothing reports.
    const stopListening = this.#onWrite(expectOwn(clock, progress, () => stop()));
    const stopChecks = clock.every(WATCH_CHECK_INTERVAL_MS, () => {
      this.#lastRevision().then(
        (revision) => {
          if (progress.isStuckAt(revision)) stop();
        },
        () => {},
      );
    });
    void follow().then(followOn, followOn);
    return () => {
      isStopped = true;
      stopChecks();
      stopListening();
      stop();
    };
  }

  #onWrite(listener: (revision: number) => void): () => void {
    this.#writeListeners.add(listener);
    return () => this.#writeListeners.delete(listener);
  }

  async #lastRevision(): Promise<number> {
    return (await this.#kv.status()).streamInfo.state.last_seq;
  }
}

/** Calls `stuck` when a revision that this engine wrote is not delivered in time, and nothing else is. */
function expectOwn(clock: Pick<Clock, 'after' | 'afterTurn'>, progress: WatchProgress, stuck: () => void) {
  let newest = 0;
  let isExpecting = false;
  const expect = (revision: number): void => {
    newest = Math.max(newest, revision);
    if (isExpecting) return;
    isExpecting = true;
    const seenBefore = progress.seen;
    const look = (): void => {
      isExpecting = false;
      if (progress.seen >= newest) return;
      if (progress.seen === seenBefore) stuck();
      else expect(newest);
    };
    // After a pause of the loop, timers run before sockets are read.
    clock.after(OWN_WRITE_MS_MAX, () => clock.afterTurn(look));
  };
  return expect;
}

/** How far a watch has come. */
class WatchProgress {
  #seen = 0;
  #seenBefore = 0;
  #expected = 0;

  get seen(): number {
    return this.#seen;
  }

  begin(revision: number): void {
    this.#seen = revision;
    this.#seenBefore = 0;
    this.#expected = revision;
  }

  delivered(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
  }

  /**
   * Called now and then with the last revision: true if what was the last one before has still not been delivered, and
   * nothing was since.
   */
  isStuckAt(revision: number): boolean {
    const isStuck = this.#seen < this.#expected && this.#seen === this.#seenBefore;
    this.#seenBefore = this.#seen;
    this.#expected = revision;
    return isStuck;
  }
}

function entryOf(entry: KvWatchEntry): BucketEntry {
  const { key, operation, revision } = entry;
  return { key, value: operation === 'PUT' ? entry.string() : undefined, revision };
}
