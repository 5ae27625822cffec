// Frames between engines over NATS. Each engine has one inbox, a subject of its own for every sender; the frames of a
// turn travel as one message, and larger ones in parts.
//
// Invariants:
//   - What arrives for a session that is over is dropped unread.
//   - Results always leave: without room they wait here, in order. More than WAITING_BYTES_MAX ends the session.
//   - While NATS is away no session is up, and a new one begins after it is back.

import { type LinkEnd, LinkSession } from '../../core/cluster/link-session.ts';
import { MessageBuffer } from '../../protocol/binary/binary-messages.ts';
import {
  LINK_FLAG,
  LINK_HEADER_BYTES,
  LINK_KIND,
  type LinkHeader,
  readLinkHeader,
  writeLinkHeader,
} from '../../protocol/cluster/link-message.ts';
import type { Carrier, Link, LinkEvents } from '../carrier.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Random } from '../random.ts';
import type { NatsConnection } from './connection.ts';

const ASK_INTERVAL_MS = 1_000;
/** Sent before the turn ends, so that the receiver starts earlier. */
const EARLY_BYTES = 64 * 1024;
/** Of frames that wait for room. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/** The sender learns that it has room before it runs out of it. */
const REPORT_BYTES = 1024 * 1024;
/** A message of NATS also carries its subject. */
const MESSAGE_OVERHEAD_BYTES = 512;

export interface NatsCarrierOptions {
  readonly nats: NatsConnection;
  /** Of all subjects. */
  readonly prefix: string;
  readonly engineId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** What other engines learn of this one with each message. */
  readonly load: () => { readonly callsInFlight: number; readonly isDraining: boolean };
}

export class NatsCarrier implements Carrier {
  readonly #options: NatsCarrierOptions;
  readonly #links = new Map<string, NatsLink>();
  readonly #stops: (() => void)[] = [];

  constructor(options: NatsCarrierOptions) {
    this.#options = options;
    const { nats, prefix, engineId, clock } = options;
    const inbox = `${prefix}.link.${engineId}.`;
    this.#stops.push(
      nats.subscribe(`${inbox}*`, (subject, bytes, respond) => {
        this.#links.get(subject.slice(inbox.length))?.receive(bytes, respond);
      }),
      clock.every(ASK_INTERVAL_MS, () => {
        for (const link of this.#links.values()) link.tick();
      }),
      nats.onChange(() => {
        for (const link of this.#links.values()) link.natsChanged();
      }),
    );
  }

  connect(engineId: string, events: LinkEvents): Link {
    if (this.#links.has(engineId)) throw new Error(`There is a link to engine ${engineId} already`);
    const link = new NatsLink(this.#options, engineId, events);
    this.#links.set(engineId, link);
    link.tick();
    return link;
  }

  disconnect(engineId: string): void {
    const link = this.#links.get(engineId);
    this.#links.delete(engineId);
    link?.close('the engine has left');
  }

  announceDraining(): void {
    for (const link of this.#links.values()) link.report();
  }

  /** This engine gives up the id under which others know it. */
  close(): void {
    for (const stop of this.#stops) stop();
    for (const link of this.#links.values()) link.close('this engine is taking a new identity');
    this.#links.clear();
  }
}

class NatsLink implements Link {
  isDraining = false;
  callsInFlight = 0;
  trouble = 'it has not answered yet';
  readonly #options: NatsCarrierOptions;
  readonly #subject: string;
  readonly #events: LinkEvents;
  readonly #session: LinkSession;
  readonly #messages = new MessageBuffer();
  /** Parts of frames that arrived in several messages. */
  #parts: Buffer[] = [];
  #waiting: Part[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  /** Messages of the other engine, to see whether one came since an ask was sent. */
  #arrivals = 0;

  constructor(options: NatsCarrierOptions, engineId: string, events: LinkEvents) {
    this.#options = options;
    this.#subject = `${options.prefix}.link.${engineId}.${options.engineId}`;
    this.#events = events;
    this.#session = new LinkSession(() => 1 + Math.floor(options.random.fraction() * (2 ** 32 - 1)));
  }

  get isUp(): boolean {
    return this.#session.isUp;
  }

  get hasRoom(): boolean {
    return this.#waiting.length === 0;
  }

  open(): MessageBuffer | undefined {
    if (!this.#session.isUp) return undefined;
    if (this.#messages.length === 0) this.#options.clock.afterTurn(() => this.#flush());
    else if (this.#messages.length >= EARLY_BYTES) this.#flush();
    return this.#messages;
  }

  refuse(reason: string): void {
    this.#options.logger.error('Another engine sent frames that cannot be read', { subject: this.#subject, reason });
    this.#end(`it sent ${reason}`);
  }

  receive(bytes: Buffer, respond: ((bytes: Buffer) => void) | undefined): void {
    const header = readLinkHeader(bytes);
    if (header === undefined) return;
    this.#take(header, bytes);
    if (header.kind === LINK_KIND.ask) respond?.(this.#bare(LINK_KIND.answer));
  }

  /** Once a second: ends a session that is over, and asks. */
  tick(): void {
    const { clock } = this.#options;
    const end = this.#session.tick(clock.monotonicMs(), this.#waiting.length > 0);
    if (end !== undefined) this.#end(end);
    this.#messages.trim();
    this.#askNow();
  }

  report(): void {
    if (this.#session.isUp) this.#send(this.#bare(LINK_KIND.report));
  }

  natsChanged(): void {
    const { trouble } = this.#options.nats;
    if (trouble === undefined) this.#askNow();
    else this.#end(`NATS is away: ${trouble}`);
  }

  close(reason: string): void {
    this.#isClosed = true;
    this.#end(reason);
  }

  #askNow(): void {
    if (!this.#isClosed && this.#options.nats.trouble === undefined) this.#ask();
  }

  #ask(): void {
    const arrivals = this.#arrivals;
    this.#options.nats.ask(this.#subject, this.#bare(LINK_KIND.ask), ASK_INTERVAL_MS).then(
      (bytes) => {
        const header = readLinkHeader(bytes);
        if (header !== undefined && !this.#isClosed) this.#take(header, bytes);
      },
      (error: unknown) => {
        // It may have subscribed after the ask, and spoken since.
        const isGone = this.#options.nats.isWithoutReceiver(error) && arrivals === this.#arrivals;
        if (isGone) this.#end('it is not connected to NATS');
      },
    );
  }

  #take(header: LinkHeader, bytes: Buffer): void {
    this.#arrivals++;
    const wasUp = this.#session.isUp;
    let arrival = this.#session.take(header, bytes.length - LINK_HEADER_BYTES);
    if (arrival === 'over') {
      this.#end(header.kind === LINK_KIND.frames ? 'a message was lost' : 'it began a new session');
      arrival = this.#session.take(header, 0);
    }
    if (arrival !== 'taken') return;
    this.isDraining = (header.flags & LINK_FLAG.draining) !== 0;
    this.callsInFlight = header.callsInFlight;
    if (!wasUp && this.#session.isUp) this.#begin();
    if (header.kind === LINK_KIND.frames) this.#takeFrames(header, bytes);
    if (this.#waiting.length > 0) this.#sendWaiting();
  }

  #begin(): void {
    // The other engine learns that its session is known here, and sends from then on.
    this.report();
    this.#events.up();
  }

  #takeFrames({ flags }: LinkHeader, bytes: Buffer): void {
    const frames = bytes.subarray(LINK_HEADER_BYTES);
    if ((flags & LINK_FLAG.continues) !== 0) {
      // The memory of a message belongs to the client of NATS.
      this.#parts.push(Buffer.from(frames));
    } else if (this.#parts.length === 0) {
      this.#events.frames(frames);
    } else {
      const whole = Buffer.concat([...this.#parts, frames]);
      this.#parts = [];
      this.#events.frames(whole);
    }
    // Handling them may have ended the session.
    if (this.#session.unreportedBytes >= REPORT_BYTES) this.report();
  }

  #flush(): void {
    const all = this.#messages.view();
    if (!this.#session.isUp || all.length === 0) return this.#messages.clear();
    const bytesMax = this.#options.nats.messageBytesMax - LINK_HEADER_BYTES - MESSAGE_OVERHEAD_BYTES;
    for (let start = 0; start < all.length; start += bytesMax) {
      const part = { bytes: all.subarray(start, start + bytesMax), continues: start + bytesMax < all.length };
      if (this.#waiting.length === 0 && this.#session.hasRoom(part.bytes.length)) this.#sendPart(part);
      else this.#wait(part);
    }
    this.#messages.clear();
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#end('it does not read');
  }

  #wait({ bytes, continues }: Part): void {
    this.#waiting.push({ bytes: Buffer.from(bytes), continues });
    this.#waitingBytes += bytes.length;
  }

  #sendWaiting(): void {
    let count = 0;
    for (const part of this.#waiting) {
      if (!this.#session.hasRoom(part.bytes.length)) break;
      this.#sendPart(part);
      this.#waitingBytes -= part.bytes.length;
      count++;
    }
    if (count === 0) return;
    this.#waiting.splice(0, count);
    this.#session.moved();
  }

  #sendPart({ bytes, continues }: Part): void {
    const message = Buffer.allocUnsafe(LINK_HEADER_BYTES + bytes.length);
    const header = this.#session.next(bytes.length);
    writeLinkHeader(message, { ...header, ...this.#load(continues ? LINK_FLAG.continues : 0) });
    message.set(bytes, LINK_HEADER_BYTES);
    this.#send(message);
  }

  /** A message without frames. */
  #bare(kind: number): Buffer {
    const message = Buffer.allocUnsafe(LINK_HEADER_BYTES);
    writeLinkHeader(message, { ...this.#session.header(kind), ...this.#load(0) });
    return message;
  }

  #load(flags: number): Pick<LinkHeader, 'flags' | 'callsInFlight'> {
    const { callsInFlight, isDraining } = this.#options.load();
    return { flags: isDraining ? flags | LINK_FLAG.draining : flags, callsInFlight };
  }

  #send(message: Buffer): void {
    if (this.#options.nats.trouble === undefined) this.#options.nats.publish(this.#subject, message);
  }

  #end(reason: LinkEnd | string): void {
    this.trouble = reason;
    const wasUp = this.#session.isUp;
    // An id that was sent and never answered needs no successor.
    if (wasUp) this.#session.end();
    this.#messages.clear();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#parts = [];
    if (!wasUp) return;
    this.#events.down(reason);
    if (!this.#isClosed) this.#options.clock.afterTurn(() => this.#askNow());
  }
}

interface Part {
  readonly bytes: Buffer;
  /** The next part belongs to the same frames. */
  readonly continues: boolean;
}
