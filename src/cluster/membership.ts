// The bucket of engines: this engine's own key, and who else is alive.
//
// States of an identity and its transitions:
//   alive   its key is renewed every 2 s
//   lost    another engine deleted the key: others may have settled what was in flight with it. It is never used
//           again; the owner starts with a new one
// While JetStream has no leader, nothing is renewed and no engine can be buried: the identity stays.
// Invariant: an engine that is considered gone is reported as gone before its entries of other buckets are removed.

import { LiveEngines, RENEW_INTERVAL_MS, SILENCE_MS_MAX } from '../core/cluster/live-engines.ts';
import type { SharedConfiguration } from '../core/cluster/shared-configuration.ts';
import type { WorkerCounts } from '../core/cluster/status.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { Bucket, BucketEntry } from '../effects/nats/bucket.ts';
import { isEngineFacts } from '../generated/cluster-values.ts';
import { asRawJson, parseRawJson, textToByteString } from '../protocol/json/byte-string.ts';
import { MarkerSweep } from './marker-sweep.ts';

/** What an engine says about itself in its key. */
export interface EngineFacts {
  readonly version: string;
  readonly address: string;
  readonly zone?: string;
  /** What the ids of its channels end with. Absent: it passes no channels on. */
  readonly channels?: string;
  /** The process, where it has several routers: each of them is a member. */
  readonly process?: string;
  /** It is not the first router of its process, which answers for all of them. */
  readonly is_further?: true;
  /** Absent in the key of an engine of the version before. */
  readonly workers?: WorkerCounts;
  /** Absent in the key of an engine that does not know it yet. */
  readonly shared?: SharedConfiguration;
}

export interface MembershipEvents {
  came(id: string, facts: EngineFacts): void;
  /** It says something else about itself, or the same again. */
  renewed(id: string, facts: EngineFacts): void;
  left(id: string): void;
  /** This identity is over. */
  lost(reason: string): void;
}

export interface MembershipOptions {
  readonly engineId: string;
  readonly bucket: Bucket;
  /** Buckets that hold entries of engines below their ids. */
  readonly entryBuckets: readonly Bucket[];
  readonly facts: () => EngineFacts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: MembershipEvents;
}

const CHECK_INTERVAL_MS = 1_000;

export class Membership {
  readonly #options: MembershipOptions;
  readonly #live: LiveEngines;
  readonly #sweep: MarkerSweep;
  readonly #stops: (() => void)[] = [];
  readonly #known = new Set<string>();
  /** Keys that were delivered since the watch began. */
  #delivered = new Set<string>();
  #revision = 0;
  #confirmedAtMs: number;
  /** Since when renewals are refused, because the key has another revision. */
  #refusedSinceMs: number | undefined;
  #isOver = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#live = new LiveEngines(options.engineId);
    this.#sweep = new MarkerSweep(options.bucket, options.clock);
    this.#confirmedAtMs = options.clock.monotonicMs();
  }

  /** Writes the key, and resolves when all engines that are there have been reported. */
  async start(): Promise<void> {
    const { bucket, engineId, clock } = this.#options;
    this.#revision = await bucket.create(engineId, this.#value());
    this.#confirmedAtMs = clock.monotonicMs();
    await new Promise<void>((resolve) => {
      const stop = bucket.watch({
        begin: () => this.#delivered.clear(),
        entry: (entry) => this.#take(entry),
        complete: () => {
          for (const id of this.#known) if (!this.#delivered.has(id)) this.#forget(id);
          if (!this.#delivered.has(engineId)) this.#lose('its key is gone');
          resolve();
        },
      });
      this.#stops.push(
        stop,
        clock.every(RENEW_INTERVAL_MS, () => void this.#renew()),
        clock.every(CHECK_INTERVAL_MS, () => this.#check()),
      );
    });
  }

  /** Why nothing can be agreed on, although NATS is connected. */
  get trouble(): string | undefined {
    const silentMs = this.#options.clock.monotonicMs() - this.#confirmedAtMs;
    if (silentMs < SILENCE_MS_MAX) return undefined;
    return `JetStream has confirmed nothing for ${Math.floor(silentMs / 1_000)} s: does it have a leader?`;
  }

  /** NATS was lost or is back: an engine that was silent meanwhile is not gone for that. */
  interrupted(): void {
    this.#live.interrupted();
  }

  /** Writes the key again, because what the engine says about itself has changed. */
  renewNow(): void {
    void this.#renew();
  }

  stop(): void {
    this.#isOver = true;
    this.#sweep.stop();
    for (const stop of this.#stops) stop();
  }

  /** A goodbye: other engines do not wait for silence. */
  async leave(): Promise<void> {
    this.stop();
    const { bucket, engineId } = this.#options;
    await bucket.delete(engineId);
    await this.#removeEntries(engineId);
  }

  #take(entry: BucketEntry): void {
    const { key, value, revision } = entry;
    const { engineId, events, clock } = this.#options;
    if (this.#isOver) return;
    this.#sweep.saw(entry);
    this.#delivered.add(key);
    if (key === engineId) {
      if (value === undefined) return this.#lose('another engine considered it gone');
      this.#revision = Math.max(this.#revision, revision);
      this.#live.renewed(key, revision, clock.monotonicMs());
      return;
    }
    if (value === undefined) return this.#forget(key);
    const facts = parseRawJson(asRawJson(textToByteString(value)));
    if (!isEngineFacts(facts)) return;
    this.#known.add(key);
    if (this.#live.renewed(key, revision, clock.monotonicMs())) events.came(key, facts);
    else events.renewed(key, facts);
  }

  #forget(id: string): void {
    this.#known.delete(id);
    if (this.#live.removed(id)) this.#options.events.left(id);
  }

  async #renew(): Promise<void> {
    const { bucket, engineId, clock } = this.#options;
    try {
      const revision = await bucket.update(engineId, this.#value(), this.#revision);
      this.#revision = Math.max(this.#revision, revision);
      this.#confirmedAtMs = clock.monotonicMs();
      this.#refusedSinceMs = undefined;
    } catch (error) {
      // Tried again at the next interval. A renewal whose confirmation was lost is refused until the watch reports it.
      if (bucket.isOutdated(error)) this.#refusedSinceMs ??= clock.monotonicMs();
    }
  }

  #check(): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    const silent = this.#live.silent(nowMs);
    if (nowMs - (this.#refusedSinceMs ?? nowMs) >= SILENCE_MS_MAX) {
      return this.#lose(`its renewals were refused for ${SILENCE_MS_MAX / 1000} s`);
    }
    for (const { id, revision } of silent) {
      logger.warn('An engine of the cluster is gone: it did not renew its key', { engine: id });
      void this.#bury(id, revision);
    }
  }

  /** Only who deletes the key in the revision that it last saw removes the entries. */
  async #bury(id: string, revision: number): Promise<void> {
    try {
      await this.#options.bucket.delete(id, revision);
      await this.#removeEntries(id);
    } catch {
      // It was renewed, another engine was faster, or NATS is away: the watch reports what holds.
    }
  }

  async #removeEntries(id: string): Promise<void> {
    for (const bucket of this.#options.entryBuckets) await bucket.purgeBelow(id);
  }

  #lose(reason: string): void {
    this.stop();
    this.#options.events.lost(reason);
  }

  #value(): string {
    return JSON.stringify(this.#options.facts());
  }
}
