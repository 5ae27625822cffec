// What flows through one channel: from the writer's socket to the reader's, by way of what is held between them.
//
// Neighbours: `core/channel.ts` decides, `router/channels.ts` finds the pipe for a connection and drops what is
// overdue, `effects/spill-file.ts` takes what memory has no room for.
// A socket cannot be told to stop sending. An end that asked for `svc.channel.v1` keeps to credit instead; of any other
// writer as much is kept as the limits allow, then it is closed (1013) and its reader gets what there is.
// Invariants:
//   P1  A frame goes straight through only when nothing is held: order and kind are kept.
//   P2  Nothing is handed to a reader's socket while more than `UNSENT_BYTES_MAX` wait in it, or without its credit.
//   P3  An end is marked gone before its socket is closed: the library tells of the close from within the call.
//   P4  Once both ends are gone, nothing of the channel is left: no frame, no file, no entry in the registry.

import type { Channel, Ending } from '../core/channel.ts';
import { recordHeader } from '../core/held-frames.ts';
import type { Clock } from '../effects/clock.ts';
import type { OpenSpillFile, SpillFile } from '../effects/spill-file.ts';
import { byteStringToText, bytesToByteString, textToByteString } from '../protocol/byte-string.ts';
import { CreditAccount, CreditWindow, decodeCredit, encodeCredit, READER_WINDOW } from '../protocol/channel-credit.ts';
import { CLOSE_CODES } from '../protocol/close-codes.ts';
import type { PeerSocket, SocketEvents } from '../transport/socket.ts';

export interface PipeParts {
  /** The window of a writer that keeps to credit, in bytes. */
  readonly windowBytes: number;
  /** The size of a spill file. */
  readonly fileBytesMax: number;
  readonly openSpillFile: OpenSpillFile;
  readonly clock: Clock;
  /** Something ended otherwise than by both ends saying goodbye. */
  readonly note: (what: ChannelTrouble, detail?: Readonly<Record<string, unknown>>) => void;
  /** Nothing is left of it. May be told more than once. */
  readonly ended: () => void;
}

export type ChannelTrouble =
  | 'end_taken'
  | 'never_taken'
  | 'buffer_full'
  | 'spill_failed'
  | 'writer_lost'
  | 'reader_left'
  | 'protocol_error';

/** What an end is: a connection, or the engine itself. */
export type EndSocket = Pick<PeerSocket, 'bufferedBytes' | 'sendText' | 'sendBinary' | 'cork' | 'close' | 'terminate'>;

/** An end that somebody has. */
interface End<Flow> {
  readonly socket: EndSocket;
  /** Absent for an end that does not keep to credit. */
  readonly flow: Flow | undefined;
}

export class ChannelPipe {
  readonly channel: Channel;
  readonly #parts: PipeParts;
  #writer: End<CreditWindow> | undefined;
  #reader: End<CreditAccount> | undefined;
  #spill: SpillFile | undefined;
  #isFetching = false;
  /** While the reader's socket is full: when it is looked at again, and how to call that off. */
  #lookDelayMs = LOOK_MS_MIN;
  #cancelLook: (() => void) | undefined;

  constructor(channel: Channel, parts: PipeParts) {
    this.channel = channel;
    this.#parts = parts;
  }

  /** A connection for the writing end. */
  connectWriter(socket: EndSocket, keepsToCredit: boolean): SocketEvents {
    if (!this.channel.take('write')) return this.#turnAway(socket);
    const { framesMax } = this.channel.facts;
    const flow = keepsToCredit ? new CreditWindow({ frames: framesMax, bytes: this.#parts.windowBytes }) : undefined;
    this.#writer = { socket, flow };
    if (this.channel.stateOf('read') === 'gone') this.#closeWriter(CLOSE_CODES.otherEndGone, READER_GONE);
    else if (flow !== undefined) socket.sendText(textToByteString(encodeCredit(flow.size)));
    return {
      message: (bytes, isBinary) => this.#receive(bytes, !isBinary),
      heard: () => {},
      closed: (code, isOverlong) => {
        // The connection broke before it could be said that this was all, or a message could not be taken.
        const ending = code === ABNORMAL || isOverlong === true ? 'cut' : 'complete';
        if (!this.channel.leaveWriter(ending)) return;
        if (ending === 'cut') this.#parts.note('writer_lost');
        this.#afterWriter();
      },
    };
  }

  /** A connection for the reading end. */
  connectReader(socket: EndSocket, keepsToCredit: boolean): SocketEvents {
    if (!this.channel.take('read')) return this.#turnAway(socket);
    const flow = keepsToCredit ? new CreditAccount(READER_WINDOW) : undefined;
    this.#reader = { socket, flow };
    this.pump();
    return {
      message: (bytes, isBinary) => {
        // Nothing flows from a reader to its writer; a reader of ours grants credit here.
        if (flow !== undefined) this.#takeCredit(socket, flow, bytes, isBinary);
      },
      heard: () => {},
      closed: () => {
        if (!this.channel.leaveReader()) return;
        if (this.channel.stateOf('write') !== 'gone') this.#parts.note('reader_left');
        this.#afterReader();
      },
    };
  }

  /** Sends the reader what it can take now. */
  pump(): void {
    const reader = this.#reader;
    if (reader === undefined || this.channel.stateOf('read') !== 'open') return;
    const { held } = this.channel;
    if (!held.isEmpty) {
      reader.socket.cork(() => {
        while (takes(reader)) {
          const frame = held.next();
          if (frame === undefined) return;
          this.#deliver(reader, frame.bytes, frame.isText);
        }
      });
      // Sending may have found the connection broken, and then all of this is over.
      if (this.channel.stateOf('read') !== 'open') return;
    }
    if (held.fileBytes === 0) this.#closeSpill();
    const ending = this.channel.endingForReader;
    if (ending !== undefined) this.#finish(reader, ending);
    else if (held.bytesToFetch > 0) this.#fetch();
    // Only a full socket can have ended the loop then, though it may have room again by now.
    else if (!held.isEmpty && hasCredit(reader)) this.#lookLater();
  }

  /** Ends whatever is still there, in both directions. */
  end(code: number, reason: string): void {
    const { channel } = this;
    const [hadWriter, hadReader] = [channel.leaveWriter('cut'), channel.leaveReader()];
    channel.held.discard();
    this.#release();
    if (hadWriter) this.#writer?.socket.close(code, reason);
    if (hadReader) this.#reader?.socket.close(code, reason);
    this.#parts.ended();
  }

  /** A goodbye waits until nothing is left to send: an engine that stops would cut off what the socket still holds. */
  #finish({ socket }: End<CreditAccount>, ending: Ending): void {
    if (socket.bufferedBytes > 0) this.#lookLater();
    else this.#closeReader(...GOODBYES[ending]);
  }

  /** Nobody tells when a socket has room again. A reader that stands still is looked at less and less often. */
  #lookLater(): void {
    this.#cancelLook ??= this.#parts.clock.after(this.#lookDelayMs, () => {
      this.#cancelLook = undefined;
      this.#lookDelayMs = Math.min(2 * this.#lookDelayMs, LOOK_MS_MAX);
      this.pump();
    });
  }

  #turnAway(socket: EndSocket): SocketEvents {
    this.#parts.note('end_taken');
    socket.close(CLOSE_CODES.refused, 'this end of the channel is taken already');
    return { message: () => {}, heard: () => {}, closed: () => {} };
  }

  #receive(bytes: Uint8Array, isText: boolean): void {
    const { channel } = this;
    const reader = this.#reader;
    if (channel.stateOf('write') !== 'open') return;
    if (channel.held.isEmpty && reader !== undefined && takes(reader)) {
      this.#deliver(reader, bytes, isText);
      return;
    }
    const place = channel.held.hold(bytes, isText);
    if (place === 'file' && !this.#append(bytes, isText)) return;
    if (place === 'nowhere') {
      this.#parts.note('buffer_full', { held_bytes: channel.held.memoryBytes + channel.held.fileBytes });
      this.#closeWriter(CLOSE_CODES.tryAgainLater, 'the reader is slower than this, and no more may be kept for it');
    }
    this.pump();
  }

  #deliver(reader: End<CreditAccount>, bytes: Uint8Array, isText: boolean): void {
    const { socket, flow } = reader;
    this.#lookDelayMs = LOOK_MS_MIN;
    flow?.spend(bytes.length);
    const isTaken = isText ? socket.sendText(bytesToByteString(bytes)) : socket.sendBinary(bytes);
    // Our own limit lies far below that of the library: whatever this is, the reader must not miss a frame unawares.
    if (!isTaken) socket.terminate();
    if (this.channel.stateOf('write') !== 'open') return;
    const grant = this.#writer?.flow?.release(bytes.length);
    if (grant !== undefined) this.#writer?.socket.sendText(textToByteString(encodeCredit(grant)));
  }

  #takeCredit(socket: EndSocket, flow: CreditAccount, bytes: Uint8Array, isBinary: boolean): void {
    const credit = isBinary ? undefined : decodeCredit(byteStringToText(bytesToByteString(bytes)));
    if (credit !== undefined) {
      flow.add(credit);
      this.pump();
      return;
    }
    this.#parts.note('protocol_error');
    socket.close(
      CLOSE_CODES.protocolError,
      'a reader sends nothing but credit: {"type":"credit","frames":N,"bytes":N}',
    );
  }

  /** False: the disk failed, and the writer is closed for it. */
  #append(bytes: Uint8Array, isText: boolean): boolean {
    try {
      this.#spill ??= this.#parts.openSpillFile(this.#parts.fileBytesMax);
      this.#spill.append(recordHeader(bytes.length, isText));
      this.#spill.append(bytes);
      return true;
    } catch (error) {
      this.#spillFailed(error);
      return false;
    }
  }

  #fetch(): void {
    const spill = this.#spill;
    if (spill === undefined || this.#isFetching) return;
    this.#isFetching = true;
    spill.take(this.channel.held.bytesToFetch).then(
      (bytes) => {
        this.#isFetching = false;
        if (this.#spill !== spill) return;
        this.channel.held.fetched(bytes);
        this.pump();
      },
      (error: unknown) => {
        this.#isFetching = false;
        if (this.#spill === spill) this.#spillFailed(error);
      },
    );
  }

  /** What lies behind the failure cannot be had any more, so the reader must not get what comes after it either. */
  #spillFailed(error: unknown): void {
    this.#parts.note('spill_failed', { error: error instanceof Error ? error.message : String(error) });
    this.end(CLOSE_CODES.internalError, 'the engine could not keep what the reader has not taken yet');
  }

  #closeSpill(): void {
    this.#spill?.close();
    this.#spill = undefined;
  }

  /** Nothing will be sent any more. */
  #release(): void {
    this.#closeSpill();
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #closeWriter(code: number, reason: string): void {
    if (!this.channel.leaveWriter('cut')) return;
    this.#writer?.socket.close(code, reason);
    this.#afterWriter();
  }

  #closeReader(code: number, reason: string): void {
    if (!this.channel.leaveReader()) return;
    this.#reader?.socket.close(code, reason);
    this.#afterReader();
  }

  #afterWriter(): void {
    this.pump();
    if (this.channel.isOver) this.#parts.ended();
  }

  #afterReader(): void {
    this.#release();
    this.#closeWriter(CLOSE_CODES.otherEndGone, READER_GONE);
    if (this.channel.isOver) this.#parts.ended();
  }
}

/** Whether a reader may be sent one more frame (P2). */
function takes(reader: End<CreditAccount>): boolean {
  return hasCredit(reader) && reader.socket.bufferedBytes <= UNSENT_BYTES_MAX;
}

function hasCredit({ flow }: End<CreditAccount>): boolean {
  return flow === undefined || flow.isOpen;
}

/** Enough to keep a fast connection busy until it is looked at again: 500 MiB per second. */
const UNSENT_BYTES_MAX = 512 * 1024;
const LOOK_MS_MIN = 1;
const LOOK_MS_MAX = 32;
/** A close without a goodbye, as the socket library tells it. */
const ABNORMAL = 1006;
const READER_GONE = 'the reader is gone';
/** How the reader learns whether it has everything. Foreign readers take any close as the end (wire 7). */
const GOODBYES: Readonly<Record<Ending, readonly [number, string]>> = {
  complete: [1000, 'stream_complete'],
  cut: [CLOSE_CODES.otherEndGone, 'the writer was lost: the end of the stream is missing'],
};
