// Orders the writes of one engine: an update reads, computes and then writes, and no other write of this engine comes
// in between. Writes of other engines are detected when the update is written.
//
// Commands that are sent at once use one connection, which keeps their order. So only updates hold a lane, and only
// commands that come while one is held wait.

interface Waiting {
  readonly begin: () => void;
  readonly holds: boolean;
}

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
