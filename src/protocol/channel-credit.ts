// Flow control on a channel connection that selected `svc.channel.v1` (docs/channels.md): whoever receives data grants
// credit, whoever sends data spends it. Engine and SDK both count with this file.
//
// Credit is counted in frames and in bytes, and a frame may be sent while some of each is left. So the last frame may
// take the bytes below zero: a message larger than the whole window can still be sent, alone.

export interface Credit {
  readonly frames: number;
  readonly bytes: number;
}

/** The window of every reader: what it may be sent before its first grant, so that no frame has to go back first. */
export const READER_WINDOW: Credit = { frames: 256, bytes: 512 * 1024 };

/** What a sender may still send. */
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

/** What a receiver grants: the whole window at first, and again what it is done with. */
export class CreditWindow {
  readonly size: Credit;
  #frames = 0;
  #bytes = 0;

  constructor(size: Credit) {
    this.size = size;
  }

  /**
   * The receiver is done with a frame. Returns the grant that is due: half a window at a time, so that the grants cost
   * little and a sender that has spent everything is always woken.
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

/** Nobody needs more, and no sum of grants may leave the numbers that are exact. */
const CREDIT_MAX = 2 ** 52;
/** Room for the fields and two long numbers. */
const CREDIT_CHARS_MAX = 128;
