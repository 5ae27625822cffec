// Order among the writes of one engine: an update reads, reckons and then writes, and nobody of this engine gets in
// between. Other engines may; they are found out when the update is written.
//
// What leaves at once goes over one connection, which keeps its order. So only updates hold a lane, and only what comes
// while one does has to wait.

interface Waiting {
  readonly begin: () => void;
  readonly holds: boolean;
}

export class Lanes {
  /** What waits behind the update that holds the lane. A lane exists while it is held. */
  readonly #held = new Map<string, Waiting[]>();

  /** Now, or behind the updates that were here before. */
  pass<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#held.get(lane);
    if (waiting === undefined) return work();
    return new Promise((resolve, reject) => {
      waiting.push({ begin: () => void work().then(resolve, reject), holds: false });
    });
  }

  /** As `pass`, and whoever comes later waits until the work has ended. */
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
