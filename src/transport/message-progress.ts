// Whether a WebSocket message is being received, and since when. This is found from the bytes, because `ws` reports a
// message only when it is complete, and a client may never complete it.
//
// Job: step over frames without touching their payloads. The library checks whether a frame is valid.
// Invariant:
//   - `beganMs` is the time of the first byte of a message that has not ended yet, and `undefined` between messages.

export class MessageProgress {
  #beganMs: number | undefined;
  /** The last data frame was not the final one of its message. */
  #isFragmented = false;
  #payloadLeft = 0;
  #headerBytes = 0;
  #headerLength = 2;
  #firstByte = 0;
  #lengthBytes = 0;
  #length = 0;

  get beganMs(): number | undefined {
    return this.#beganMs;
  }

  /** The next bytes from the client, in pieces of any size. */
  take(chunk: Uint8Array, nowMs: number): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft === 0) {
        this.#takeHeaderByte(chunk[at] ?? 0, nowMs);
        at += 1;
      } else {
        const taken = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= taken;
        at += taken;
        if (this.#payloadLeft === 0) this.#endFrame();
      }
    }
  }

  #takeHeaderByte(byte: number, nowMs: number): void {
    const at = this.#headerBytes++;
    if (at === 0) {
      this.#beganMs ??= nowMs;
      this.#firstByte = byte;
      return;
    }
    if (at === 1) {
      const short = byte & SHORT_LENGTH;
      this.#lengthBytes = short === LENGTH_IN_8 ? 8 : short === LENGTH_IN_2 ? 2 : 0;
      this.#length = this.#lengthBytes === 0 ? short : 0;
      this.#headerLength = 2 + this.#lengthBytes + (byte & MASKED ? MASK_BYTES : 0);
    } else if (at < 2 + this.#lengthBytes) {
      // Beyond 2^53 the length is not exact, and over every limit.
      this.#length = this.#length * 256 + byte;
    }
    if (this.#headerBytes === this.#headerLength) this.#endHeader();
  }

  #endHeader(): void {
    this.#headerBytes = 0;
    this.#payloadLeft = this.#length;
    if (this.#payloadLeft === 0) this.#endFrame();
  }

  #endFrame(): void {
    // Pings may come between the fragments of a message and do not end it.
    const isControl = (this.#firstByte & CONTROL) !== 0;
    if (!isControl) this.#isFragmented = (this.#firstByte & FINAL) === 0;
    if (!this.#isFragmented) this.#beganMs = undefined;
  }
}

const FINAL = 0x80;
const CONTROL = 0x08;
const MASKED = 0x80;
const SHORT_LENGTH = 0x7f;
const LENGTH_IN_2 = 126;
const LENGTH_IN_8 = 127;
const MASK_BYTES = 4;
