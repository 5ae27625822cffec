// Bytes from one thread to another through shared memory: one thread writes, one reads, and neither waits.
//
//   header, Int32 each   written · read · reader · writer · attached · calls · draining   (one cache line each)
//   data                 records: u32 length, bit 31 set: the next record continues it · bytes
//
// Invariants:
//   - `written` and `read` count bytes modulo 2^32, and change only after the bytes of the record were copied.
//   - A writer that found the reader idle has to wake it, once. It learns that from the exchange of `reader`, so no
//     record is left in the ring while the reader sleeps, and a busy reader is woken by no message.
//   - A writer without room says so in `writer`. The reader that frees room swaps it back, and then has to wake the
//     writer.

const LINE_INTS = 16;
const WRITTEN = 0;
const READ = LINE_INTS;
const READER = 2 * LINE_INTS;
const WRITER = 3 * LINE_INTS;
const ATTACHED = 4 * LINE_INTS;
const CALLS = 5 * LINE_INTS;
const DRAINING = 6 * LINE_INTS;
const HEADER_BYTES = 7 * LINE_INTS * Int32Array.BYTES_PER_ELEMENT;

const IDLE = 0;
const WOKEN = 1;

const LENGTH_BYTES = 4;
const CONTINUES = 0x8000_0000;

/** A power of two: positions wrap around with the counters. */
const DATA_BYTES = 256 * 1024;
/** Of one record. */
export const RECORD_BYTES_MAX = 32 * 1024;

export function createRing(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + DATA_BYTES);
}

interface RingView {
  readonly header: Int32Array;
  readonly data: Buffer;
}

function viewOf(ring: SharedArrayBuffer): RingView {
  return { header: new Int32Array(ring, 0, HEADER_BYTES / 4), data: Buffer.from(ring, HEADER_BYTES, DATA_BYTES) };
}

export class RingWriter {
  readonly #header: Int32Array;
  readonly #data: Buffer;
  #written = 0;

  constructor(ring: SharedArrayBuffer) {
    const { header, data } = viewOf(ring);
    this.#header = header;
    this.#data = data;
  }

  /** The other thread reads. */
  get isAttached(): boolean {
    return Atomics.load(this.#header, ATTACHED) === 1;
  }

  /** What the reader learns without a record. */
  report(callsInFlight: number, isDraining: boolean): void {
    this.#header[CALLS] = callsInFlight;
    this.#header[DRAINING] = isDraining ? 1 : 0;
  }

  /** False: there is no room. */
  write(bytes: Uint8Array, continues: boolean): boolean {
    const used = (this.#written - Atomics.load(this.#header, READ)) >>> 0;
    if (used + LENGTH_BYTES + bytes.length > DATA_BYTES) return false;
    const length = continues ? (bytes.length | CONTINUES) >>> 0 : bytes.length;
    for (let index = 0; index < LENGTH_BYTES; index++) {
      this.#data[(this.#written + index) % DATA_BYTES] = (length >>> (8 * index)) & 0xff;
    }
    const start = (this.#written + LENGTH_BYTES) % DATA_BYTES;
    const first = Math.min(bytes.length, DATA_BYTES - start);
    this.#data.set(first === bytes.length ? bytes : bytes.subarray(0, first), start);
    if (first < bytes.length) this.#data.set(bytes.subarray(first), 0);
    this.#written = (this.#written + LENGTH_BYTES + bytes.length) >>> 0;
    Atomics.store(this.#header, WRITTEN, this.#written | 0);
    return true;
  }

  /** After records were written: whether the reader has to be woken. */
  mustWake(): boolean {
    return Atomics.compareExchange(this.#header, READER, IDLE, WOKEN) === IDLE;
  }

  /** The reader is to wake this thread when it has freed room. To be followed by one more attempt to write. */
  wait(): void {
    Atomics.store(this.#header, WRITER, 1);
  }
}

export class RingReader {
  readonly #header: Int32Array;
  readonly #data: Buffer;
  #read = 0;

  constructor(ring: SharedArrayBuffer) {
    const { header, data } = viewOf(ring);
    this.#header = header;
    this.#data = data;
  }

  attach(isAttached: boolean): void {
    Atomics.store(this.#header, ATTACHED, isAttached ? 1 : 0);
  }

  get callsInFlight(): number {
    return this.#header[CALLS] ?? 0;
  }

  get isDraining(): boolean {
    return this.#header[DRAINING] === 1;
  }

  get hasRecords(): boolean {
    return Atomics.load(this.#header, WRITTEN) >>> 0 !== this.#read;
  }

  /** Records written from now on wake this thread. To be called before the ring is read. */
  sleep(): void {
    Atomics.store(this.#header, READER, IDLE);
  }

  /** This thread reads again by itself. */
  stayAwake(): void {
    Atomics.store(this.#header, READER, WOKEN);
  }

  /** The length of the next record, which has to be there. */
  get nextLength(): number {
    return this.#nextWord & ~CONTINUES;
  }

  /** Copies the next record, and frees its room. Returns whether the one after it continues it. */
  take(into: Buffer, at: number): boolean {
    const word = this.#nextWord;
    const length = word & ~CONTINUES;
    const start = (this.#read + LENGTH_BYTES) % DATA_BYTES;
    const first = Math.min(length, DATA_BYTES - start);
    this.#data.copy(into, at, start, start + first);
    if (first < length) this.#data.copy(into, at + first, 0, length - first);
    this.#read = (this.#read + LENGTH_BYTES + length) >>> 0;
    Atomics.store(this.#header, READ, this.#read | 0);
    return (word & CONTINUES) !== 0;
  }

  /** After records were taken: whether the writer waits for the room, and has to be woken. */
  mustWakeWriter(): boolean {
    return Atomics.load(this.#header, WRITER) === 1 && Atomics.exchange(this.#header, WRITER, 0) === 1;
  }

  get #nextWord(): number {
    let word = 0;
    for (let index = 0; index < LENGTH_BYTES; index++) {
      word |= (this.#data[(this.#read + index) % DATA_BYTES] ?? 0) << (8 * index);
    }
    return word >>> 0;
  }
}
