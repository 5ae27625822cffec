// Carries frames between the routers of one process, through shared memory.
//
// Two routers share a line: a ring in each direction, and a port whose messages only wake the other thread. Nothing is
// lost on the way, so the session of a line lasts until one of its ends leaves. What finds no room in the ring waits
// in the memory of the writer, and results never wait for a caller to read: only new calls are refused meanwhile.

import type { MessagePort } from 'node:worker_threads';
import { MessageBuffer } from '../../protocol/binary/binary-messages.ts';
import type { Carrier, Link, LinkEvents } from '../carrier.ts';
import type { Clock } from '../clock.ts';
import { RECORD_BYTES_MAX, RingReader, RingWriter } from './ring.ts';

/** One end of a line. */
export interface SharedLine {
  readonly peerId: string;
  readonly incoming: SharedArrayBuffer;
  readonly outgoing: SharedArrayBuffer;
  readonly port: MessagePort;
}

export interface SharedMemoryCarrierOptions {
  readonly lines: readonly SharedLine[];
  readonly clock: Clock;
  /** What other routers learn of this one with each batch of frames. */
  readonly load: () => { readonly callsInFlight: number; readonly isDraining: boolean };
  /** A fault of this process, which has to end. */
  readonly fail: (reason: string) => void;
}

/** The reader begins before the turn of the writer ends. */
const EARLY_BYTES = 16 * 1024;
/** Read in one turn: sockets have their turn, too. */
const TURN_BYTES = 256 * 1024;
/** What may wait before new calls are refused. */
const ROOM_BYTES = 16 * 1024 * 1024;
/** Out of reach: results of calls that were admitted. */
const WAITING_BYTES_MAX = 1024 * 1024 * 1024;
const FIRST_BYTES = 2 * RECORD_BYTES_MAX;
/** The memory that an idle line may keep. */
const KEPT_BYTES_MAX = 256 * 1024;

export class SharedMemoryCarrier implements Carrier {
  readonly #options: SharedMemoryCarrierOptions;
  readonly #links = new Map<string, SharedLink>();

  constructor(options: SharedMemoryCarrierOptions) {
    this.#options = options;
  }

  connect(engineId: string, events: LinkEvents): Link {
    const line = this.#options.lines.find(({ peerId }) => peerId === engineId);
    if (line === undefined) throw new Error(`There is no line to router ${engineId}`);
    const link = new SharedLink(this.#options, line, events);
    this.#links.set(engineId, link);
    return link;
  }

  disconnect(engineId: string): void {
    this.#links.get(engineId)?.close();
    this.#links.delete(engineId);
  }

  announceDraining(): void {
    for (const link of this.#links.values()) link.report();
  }

  close(): void {
    for (const id of [...this.#links.keys()]) this.disconnect(id);
  }
}

interface Part {
  readonly bytes: Buffer;
  readonly continues: boolean;
}

class SharedLink implements Link {
  isUp = false;
  trouble = 'it has not started yet';
  readonly #options: SharedMemoryCarrierOptions;
  readonly #events: LinkEvents;
  readonly #port: MessagePort;
  readonly #reader: RingReader;
  readonly #writer: RingWriter;
  readonly #messages = new MessageBuffer();
  /** What was read of the frames that have not arrived whole. */
  #frames = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #framesBytes = 0;
  #waiting: Part[] = [];
  #waitingBytes = 0;
  #isClosed = false;

  constructor(options: SharedMemoryCarrierOptions, { incoming, outgoing, port }: SharedLine, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#port = port;
    this.#reader = new RingReader(incoming);
    this.#writer = new RingWriter(outgoing);
    port.on('message', () => this.#woken());
    port.unref();
    this.#reader.attach(true);
    this.report();
    options.clock.afterTurn(() => this.#look());
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < ROOM_BYTES;
  }

  get isDraining(): boolean {
    return this.#reader.isDraining;
  }

  get callsInFlight(): number {
    return this.#reader.callsInFlight;
  }

  open(): MessageBuffer | undefined {
    if (!this.isUp) return undefined;
    if (this.#messages.length === 0) this.#options.clock.afterTurn(() => this.#flush());
    else if (this.#messages.length >= EARLY_BYTES) this.#flush();
    return this.#messages;
  }

  refuse(reason: string): void {
    this.#options.fail(`a router thread sent ${reason}`);
  }

  report(): void {
    const { callsInFlight, isDraining } = this.#options.load();
    this.#writer.report(callsInFlight, isDraining);
    this.#port.postMessage(0);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#reader.attach(false);
    this.#port.postMessage(0);
    this.#end('the router has left');
  }

  #woken(): void {
    if (this.#waiting.length > 0) this.#sendWaiting();
    this.#look();
    this.#read();
  }

  /** Whether the other end is there. */
  #look(): void {
    const isThere = !this.#isClosed && this.#writer.isAttached;
    if (isThere && !this.isUp) {
      this.isUp = true;
      this.#events.up();
    } else if (!isThere && this.isUp) {
      // It has written its last frames before it left.
      this.#read();
      this.#end('the router has left');
    }
  }

  #end(reason: string): void {
    const wasUp = this.isUp;
    this.isUp = false;
    this.trouble = reason;
    this.#messages.clear();
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (wasUp) this.#events.down(reason);
  }

  #read(): void {
    const reader = this.#reader;
    reader.sleep();
    let bytes = 0;
    while (this.isUp && bytes < TURN_BYTES && reader.hasRecords) bytes += this.#take();
    if (bytes > 0 && reader.mustWakeWriter()) this.#port.postMessage(0);
    if (!this.isUp || !reader.hasRecords) return this.#trim();
    reader.stayAwake();
    this.#options.clock.afterTurn(() => this.#read());
  }

  #take(): number {
    const length = this.#reader.nextLength;
    const end = this.#framesBytes + length;
    if (end > this.#frames.length) this.#grow(end);
    const continues = this.#reader.take(this.#frames, this.#framesBytes);
    this.#framesBytes = end;
    if (continues) return length;
    this.#framesBytes = 0;
    this.#events.frames(this.#frames.subarray(0, end));
    return length;
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#frames.length));
    this.#frames.copy(grown, 0, 0, this.#framesBytes);
    this.#frames = grown;
  }

  #trim(): void {
    if (this.#framesBytes === 0 && this.#frames.length > KEPT_BYTES_MAX) {
      this.#frames = Buffer.allocUnsafeSlow(FIRST_BYTES);
      this.#messages.trim();
    }
  }

  #flush(): void {
    const all = this.#messages.view();
    if (!this.isUp || all.length === 0) return this.#messages.clear();
    for (let start = 0; start < all.length; start += RECORD_BYTES_MAX) {
      const bytes = all.subarray(start, start + RECORD_BYTES_MAX);
      const continues = start + RECORD_BYTES_MAX < all.length;
      if (this.#waiting.length > 0 || !this.#writer.write(bytes, continues)) this.#wait({ bytes, continues });
    }
    this.#messages.clear();
    const { callsInFlight, isDraining } = this.#options.load();
    this.#writer.report(callsInFlight, isDraining);
    this.#wake();
    if (this.#waiting.length > 0) this.#sendWaiting();
  }

  #wait({ bytes, continues }: Part): void {
    this.#waiting.push({ bytes: Buffer.from(bytes), continues });
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#options.fail('a router thread does not read from another one');
  }

  #sendWaiting(): void {
    this.#sendSome();
    if (this.#waiting.length === 0) return;
    // The reader may have freed room before it could see that this thread waits.
    this.#writer.wait();
    this.#sendSome();
  }

  #sendSome(): void {
    let sent = 0;
    for (const { bytes, continues } of this.#waiting) {
      if (!this.#writer.write(bytes, continues)) break;
      this.#waitingBytes -= bytes.length;
      sent++;
    }
    if (sent === 0) return;
    this.#waiting = this.#waiting.slice(sent);
    this.#wake();
  }

  #wake(): void {
    if (this.#writer.mustWake()) this.#port.postMessage(0);
  }
}
