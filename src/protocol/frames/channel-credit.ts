// Flow control on a channel connection that selected `svc.channel.v1` (docs/channels.md): the receiver of data grants
// credit, the sender of data spends it. Engine and SDK both count with this file.
//
// Credit is counted in frames and in bytes, and a frame may be sent while some of each is left. So the last frame may
// take the bytes below zero: a message larger than the whole window can still be sent, alone.

export interface Credit {
  readonly frames: number;
  readonly bytes: number;
}

/** The initial credit for data to a reader, so that the reader need not grant any before the first frame. */
export const READER_WINDOW: Credit = { frames: 256, bytes: 512 * 1024 };

/** The credit that a sender has left. */
export class CreditAccount {
  #frames: number;
  #bytes: number;

  constructor({ frames, bytes }: Credit) {
    this.#frames = frames;
    this.#bytes = bytes;
  }

  get isOpen(): boolean {
    return this.#frames > 0 && this.#bytes > 0;
  }

  add({ frames, bytes }: Credit): void {
    this.#frames = Math.min(this.#frames + frames, CREDIT_MAX);
    this.#bytes = Math.min(this.#bytes + bytes, CREDIT_MAX);
  }

  spend(bytes: number): void {
    this.#frames--;
    this.#bytes -= bytes;
  }
}

/** The grants of a receiver: the whole window at first, then the credit of the frames it has finished with. */
export class CreditWindow {
  readonly size: Credit;
  #frames = 0;
  #bytes = 0;

  constructor(size: Credit) {
    this.size = size;
  }

  /**
   * The receiver has finished with a frame. Returns the grant that is due: half a window at a time, so that grants cost
   * little and a sender without credit always gets some.
   */
  release(bytes: number): Credit | undefined {
    this.#frames++;
    this.#bytes += bytes;
    const { size } = this;
    if (2 * this.#frames < size.frames && 2 * this.#bytes < size.bytes) return undefined;
    const grant = { frames: this.#frames, bytes: this.#bytes };
    this.#frames = 0;
    this.#bytes = 0;
    return grant;
  }
}

export function encodeCredit({ frames, bytes }: Credit): string {
  return `{"type":"credit","frames":${frames},"bytes":${bytes}}`;
}

/** The grant in a text frame; `undefined` if it is anything else. */
export function decodeCredit(text: string): Credit | undefined {
  if (text.length > CREDIT_CHARS_MAX) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'credit') return undefined;
  if (!('frames' in value) || !('bytes' in value)) return undefined;
  const { frames, bytes } = value;
  return isAmount(frames) && isAmount(bytes) ? { frames, bytes } : undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** An upper limit for grants, so that no sum of grants leaves the range of exact numbers. */
const CREDIT_MAX = 2 ** 52;
/** Room for the fields and two long numbers. */
const CREDIT_CHARS_MAX = 128;
