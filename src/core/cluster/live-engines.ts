// Which engines of the cluster are alive, as one of them sees it. Pure: the owner passes in what its watch delivers,
// with the time of its own monotonic clock, so that clocks of different machines are never compared.
//
// Invariants:
//   - Silence counts only while this engine hears itself: from when its own watch has delivered a renewal of its own,
//      until none comes, the connection is lost or its loop pauses. Otherwise its own silence would look like theirs.
//   - An engine is reported as silent again and again until its key is gone.

/** How often an engine renews its key. */
export const RENEW_INTERVAL_MS = 2_000;
/** An engine that did not renew its key for this long is gone. */
export const SILENCE_MS_MAX = 6_000;
/** An engine that has not seen its own renewal for this long may be the one that is out of reach. */
const OWN_SILENCE_MS_MAX = 4_000;
/** A pause of the loop after which silence counts from the start. */
export const PAUSE_MS_MAX = 2_000;

export interface SilentEngine {
  readonly id: string;
  /** Of its key when it was last seen: it is deleted only if it has not changed since. */
  readonly revision: number;
}

interface Sighting {
  revision: number;
  atMs: number;
}

export class LiveEngines {
  readonly #ownId: string;
  readonly #sightings = new Map<string, Sighting>();
  /** Since when this engine hears itself. */
  #hearsSinceMs: number | undefined;
  #heardAtMs = 0;
  #checkedAtMs: number | undefined;

  constructor(ownId: string) {
    this.#ownId = ownId;
  }

  /** The watch delivered the key of an engine. Returns whether the engine is new. */
  renewed(id: string, revision: number, nowMs: number): boolean {
    if (id === this.#ownId) {
      if (nowMs - this.#heardAtMs > OWN_SILENCE_MS_MAX) this.#hearsSinceMs = undefined;
      this.#hearsSinceMs ??= nowMs;
      this.#heardAtMs = nowMs;
      return false;
    }
    const isNew = !this.#sightings.has(id);
    this.#sightings.set(id, { revision, atMs: nowMs });
    return isNew;
  }

  /** The watch delivered the end of its key. Returns whether the engine was known. */
  removed(id: string): boolean {
    return this.#sightings.delete(id);
  }

  /** The connection was lost. */
  interrupted(): void {
    this.#hearsSinceMs = undefined;
  }

  /** To be called at least once a second. The engines that are gone. */
  silent(nowMs: number): SilentEngine[] {
    const pausedMs = nowMs - (this.#checkedAtMs ?? nowMs);
    this.#checkedAtMs = nowMs;
    if (pausedMs > PAUSE_MS_MAX) this.interrupted();
    const sinceMs = this.#hearsSinceMs;
    if (sinceMs === undefined || nowMs - this.#heardAtMs > OWN_SILENCE_MS_MAX) return [];
    return [...this.#sightings]
      .filter(([, { atMs }]) => nowMs - Math.max(atMs, sinceMs) >= SILENCE_MS_MAX)
      .map(([id, { revision }]) => ({ id, revision }));
  }
}
