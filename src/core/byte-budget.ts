// So many bytes for many takers: what one of them has, no other can get.

export class ByteBudget {
  readonly #bytesMax: number;
  #taken = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False: not so many are left, and nothing was taken. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#bytesMax) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }
}
