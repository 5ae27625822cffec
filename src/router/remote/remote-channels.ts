// Ends of channels between two engines: a client of one has the end, the other has the channel.
//
// Job: carry frames, credit and closes of such ends in one session of the link.
// Flow control: each hop has its own credit, as for any end. All ends of a session share UNREAD_BYTES_MAX in transit,
// so that calls do not wait for bulk data.
// Invariant: what a session carried is cut when it ends. A reader learns that data is missing.

import { isEndOpening } from '../../generated/cluster-values.ts';
import type { ChannelHeader } from '../../protocol/binary/binary-messages.ts';
import {
  CHANNEL_OF_SENDER,
  CHANNEL_STEP,
  CHANNEL_STEP_BITS,
  type EndOpening,
} from '../../protocol/cluster/channel-message.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import {
  asRawJson,
  type ByteString,
  parseRawJson,
  rawJson,
  textToByteString,
} from '../../protocol/json/byte-string.ts';
import type { SocketEvents } from '../../transport/socket.ts';
import type { ChannelPipe, EndSocket } from '../channels/channel-pipe.ts';
import type { ChannelHome, Channels } from '../channels/channels.ts';
import type { RemoteEngine } from './remote-engine.ts';

/** Of one session, sent and not reported as received. Its ends wait above it. */
const UNREAD_BYTES_MAX = 512 * 1024;
const REPORT_BYTES = 64 * 1024;
const COMPLETE = 1000;
/** A connection that broke. */
const ABNORMAL = 1006;

interface Passing {
  readonly events: SocketEvents;
  /** Something has arrived for it. */
  isHeard?: boolean;
  /** The engine that has the channel has closed the end. Absent there: the client has. */
  refused?(code: number, reason: string): void;
}

export class RemoteChannels implements ChannelHome {
  readonly #engine: RemoteEngine;
  readonly #channels: Channels;
  /** Ends of clients of this engine, and of the other engine, by number. */
  readonly #own = new Map<number, Passing>();
  readonly #theirs = new Map<number, Passing>();
  #lastNumber = 0;
  #unreadBytes = 0;
  #unreportedBytes = 0;
  #isOver = false;

  constructor(engine: RemoteEngine, channels: Channels) {
    this.#engine = engine;
    this.#channels = channels;
  }

  get isUp(): boolean {
    return this.#engine.isUp && !this.#isOver;
  }

  /** More than fits is in transit. */
  get unsentBytes(): number {
    return this.#unreadBytes > UNREAD_BYTES_MAX ? this.#unreadBytes : 0;
  }

  /** A client of this engine took an end of a channel that the other engine has. `pipe`: from the client to there. */
  passOn(opening: EndOpening, pipe: ChannelPipe): void {
    const number = ++this.#lastNumber;
    this.#send(CHANNEL_STEP.open | CHANNEL_OF_SENDER, 0, number, rawJson(opening));
    const socket = new PassingSocket(this, this.#own, number, CHANNEL_OF_SENDER);
    const isWriter = opening.direction === 'write';
    const events = isWriter ? pipe.connectReader(socket, true, NO_CREDIT) : pipe.connectWriter(socket, true);
    const passing: Passing = {
      events,
      refused: (code, reason) => {
        // A reader first gets what has arrived.
        const isCut = code === CLOSE_CODES.otherEndGone && passing.isHeard === true;
        if (isWriter || (code !== COMPLETE && !isCut)) pipe.end(code, reason);
        else events.closed(code === COMPLETE ? COMPLETE : ABNORMAL);
      },
    };
    if (!socket.isOver) this.#own.set(number, passing);
  }

  take({ flags, code, number, start, end }: Readonly<ChannelHeader>, message: Buffer): void {
    const ends = (flags & CHANNEL_OF_SENDER) === 0 ? this.#own : this.#theirs;
    const content = message.subarray(start, end);
    switch (flags & CHANNEL_STEP_BITS) {
      case CHANNEL_STEP.open:
        return this.#open(number, content);
      case CHANNEL_STEP.text:
      case CHANNEL_STEP.bytes:
        this.#report(content.length);
        return hear(ends.get(number), content, (flags & CHANNEL_STEP_BITS) === CHANNEL_STEP.bytes);
      case CHANNEL_STEP.close:
        return this.#close(ends, number, code, content.toString());
      case CHANNEL_STEP.received:
        this.#unreadBytes = Math.max(0, this.#unreadBytes - number);
        return;
      default:
        this.#engine.refuse(`a message about a channel with the flags ${flags}`);
    }
  }

  /** The session has ended. */
  end(): void {
    this.#isOver = true;
    for (const number of [...this.#own.keys()]) {
      this.#close(this.#own, number, CLOSE_CODES.otherEndGone, 'the engine that has the channel cannot be reached');
    }
    for (const number of [...this.#theirs.keys()]) this.#close(this.#theirs, number, ABNORMAL, '');
  }

  /** False: the session has ended. */
  send(flags: number, number: number, content: ByteString | Uint8Array): boolean {
    if (!this.isUp) return false;
    this.#unreadBytes += content.length;
    this.#send(flags, 0, number, content);
    return true;
  }

  sendClose(flags: number, number: number, code: number, reason: string): void {
    this.#send(CHANNEL_STEP.close | flags, code, number, textToByteString(reason));
  }

  #send(flags: number, code: number, number: number, content: ByteString | Uint8Array): void {
    if (!this.#isOver) this.#engine.sendChannel(flags, code, number, content);
  }

  #report(bytes: number): void {
    this.#unreportedBytes += bytes;
    if (this.#unreportedBytes < REPORT_BYTES) return;
    this.#send(CHANNEL_STEP.received, 0, this.#unreportedBytes, new Uint8Array());
    this.#unreportedBytes = 0;
  }

  #open(number: number, content: Buffer): void {
    const opening = readOpening(content);
    if (opening === undefined) return this.#engine.refuse('the opening of a channel that cannot be read');
    const socket = new PassingSocket(this, this.#theirs, number, 0);
    const { id, key, direction } = opening;
    if (!this.#channels.has(id, key)) return socket.close(CLOSE_CODES.otherEndGone, 'Channel not found');
    const events = this.#channels.connect({ id, key, direction, socket, keepsToCredit: true, firstCredit: NO_CREDIT });
    if (!socket.isOver) this.#theirs.set(number, { events });
  }

  #close(ends: Map<number, Passing>, number: number, code: number, reason: string): void {
    const passing = ends.get(number);
    ends.delete(number);
    if (passing?.refused !== undefined) passing.refused(code, reason);
    else passing?.events.closed(code === COMPLETE ? COMPLETE : ABNORMAL);
  }
}

/** The end as the pipe of this engine sees it: what it sends arrives at the pipe of the other engine. */
class PassingSocket implements EndSocket {
  isOver = false;
  readonly #session: RemoteChannels;
  readonly #ends: Map<number, Passing>;
  readonly #number: number;
  readonly #flags: number;

  constructor(session: RemoteChannels, ends: Map<number, Passing>, number: number, flags: number) {
    this.#session = session;
    this.#ends = ends;
    this.#number = number;
    this.#flags = flags;
  }

  get bufferedBytes(): number {
    return this.#session.unsentBytes;
  }

  sendText(text: ByteString): boolean {
    return this.#session.send(CHANNEL_STEP.text | this.#flags, this.#number, text);
  }

  sendBinary(bytes: Uint8Array): boolean {
    return this.#session.send(CHANNEL_STEP.bytes | this.#flags, this.#number, bytes);
  }

  cork(write: () => void): void {
    write();
  }

  close(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#ends.delete(this.#number);
    this.#session.sendClose(this.#flags, this.#number, code, reason);
  }

  /** Only a session that has ended takes nothing, and its end closes all. */
  terminate(): void {}
}

/** `undefined`: the client has left, and the other engine had not heard of it. */
function hear(passing: Passing | undefined, content: Buffer, isBinary: boolean): void {
  if (passing === undefined) return;
  passing.isHeard = true;
  passing.events.message(content, isBinary);
}

/** The receiver of data grants its window before the first frame. */
const NO_CREDIT = { frames: 0, bytes: 0 };

function readOpening(content: Buffer): EndOpening | undefined {
  try {
    const opening = parseRawJson(asRawJson(content.toString('latin1')));
    return isEndOpening(opening) ? opening : undefined;
  } catch {
    return undefined;
  }
}
