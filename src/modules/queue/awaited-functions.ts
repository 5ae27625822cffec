// The functions that parked jobs of a queue wait for. Jobs of trusted origin wait for a worker that may run them: a
// function of a restricted connection wakes only jobs of restricted connections.

export class AwaitedFunctions {
  readonly #byTrustedJobs = new Set<string>();
  readonly #byOtherJobs = new Set<string>();

  get isEmpty(): boolean {
    return this.#byTrustedJobs.size + this.#byOtherJobs.size === 0;
  }

  add(functionId: string, isTrustedWork: boolean): void {
    this.#setOf(isTrustedWork).add(functionId);
  }

  /** Jobs whose origin is known only when they are claimed: they count as both. */
  addUnknown(functionId: string): void {
    this.#byTrustedJobs.add(functionId);
    this.#byOtherJobs.add(functionId);
  }

  addAll(other: AwaitedFunctions): void {
    for (const functionId of other.#byTrustedJobs) this.#byTrustedJobs.add(functionId);
    for (const functionId of other.#byOtherJobs) this.#byOtherJobs.add(functionId);
  }

  /** Removes and returns the functions that are available now: jobs that are parked again are added again. */
  takeOffered(isOffered: (functionId: string, isTrustedWork: boolean) => boolean): Set<string> {
    const taken = new Set<string>();
    for (const isTrustedWork of [true, false]) {
      const awaited = this.#setOf(isTrustedWork);
      for (const functionId of awaited) {
        if (!isOffered(functionId, isTrustedWork)) continue;
        awaited.delete(functionId);
        taken.add(functionId);
      }
    }
    return taken;
  }

  clear(): void {
    this.#byTrustedJobs.clear();
    this.#byOtherJobs.clear();
  }

  #setOf(isTrustedWork: boolean): Set<string> {
    return isTrustedWork ? this.#byTrustedJobs : this.#byOtherJobs;
  }
}
