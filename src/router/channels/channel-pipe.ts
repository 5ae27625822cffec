// The data flow of one channel: from the writer's socket to the reader's, through the held frames between them.
//
// Neighbours: `core/channels/channel.ts` decides, `router/channels/channels.ts` finds the pipe for a connection and
// drops what is overdue, `effects/spill-file.ts` takes what does not fit into memory. A WebSocket has no way to pause
// its sender. An end that asked for `svc.channel.v1` keeps to credit. Frames of any other writer are held up to the
// limits; then the writer is closed (1013), and its reader gets what is held.
// Invariants:
//   - A frame goes straight through only when nothing is held: order and kind are kept.
//   - Nothing is written to a reader's socket while more than `UNSENT_BYTES_MAX` wait in it, or without its credit.
//   - An end is marked gone before its socket is closed, because the library reports the close from within the call.
//   - Once both ends are gone, nothing of the channel is left: no frame, no file, no entry in the registry.

import type { Channel, Ending } from '../../core/channels/channel.ts';
import { recordHeader } from '../../core/channels/held-frames.ts';
import type { Clock } from '../../effects/clock.ts';
import type { OpenSpillFile, SpillFile } from '../../effects/spill-file.ts';
import {
  type Credit,
  CreditAccount,
  CreditWindow,
  decodeCredit,
  encodeCredit,
  READER_WINDOW,
} from '../../protocol/frames/channel-credit.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import { byteStringToText, bytesToByteString, textToByteString } from '../../protocol/json/byte-string.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';

export interface ChannelPipeOptions {
  /** The window of a writer that keeps to credit, in bytes. */
  readonly windowBytes: number;
  /** The size of a spill file. */
  readonly fileBytesMax: number;
  readonly openSpillFile: OpenSpillFile;
  readonly clock: Clock;
  /** An end was lost without a normal close. */
  readonly note: (what: ChannelTrouble, detail?: Readonly<Record<string, unknown>>) => void;
  /** Nothing of the channel is left. May be called more than once. */
  readonly ended: () => void;
}

export type ChannelTrouble =
  | 'end_taken'
  | 'never_taken'
  | 'maker_left'
  | 'buffer_full'
  | 'spill_failed'
  | 'writer_lost'
  | 'reader_left'
  | 'protocol_error';

/** What an end is: a connection, or the engine itself. */
export type EndSocket = Pick<PeerSocket, 'bufferedBytes' | 'sendText' | 'sendBinary' | 'cork' | 'close' | 'terminate'>;

/** An end that is taken. */
interface End<Flow> {
  readonly socket: EndSocket;
  /** Absent for an end that does not keep to credit. */
  readonly flow: Flow | undefined;
}

export class ChannelPipe {
  readonly channel: Channel;
  readonly #options: ChannelPipeOptions;
  #writer: End<CreditWindow> | undefined;
  #reader: End<CreditAccount> | undefined;
  #spill: SpillFile | undefined;
  #isFetching = false;
  /** While the reader's socket is full: the timer of the next check, and how to cancel it. */
  #lookDelayMs = LOOK_MS_MIN;
  #cancelLook: (() => void) | undefined;

  constructor(channel: Channel, options: ChannelPipeOptions) {
    this.channel = channel;
    this.#options = options;
  }

  /** A connection takes the writing end. */
  connectWriter(socket: EndSocket, keepsToCredit: boolean): SocketEvents {
    if (!this.channel.take('write')) return this.#turnAway(socket);
    const { framesMax } = this.channel.details;
    const flow = keepsToCredit ? new CreditWindow({ frames: framesMax, bytes: this.#options.windowBytes }) : undefined;
    this.#writer = { socket, flow };
    if (this.channel.stateOf('read') === 'gone') this.#closeWriter(CLOSE_CODES.otherEndGone, READER_GONE);
    else if (flow !== undefined) socket.sendText(textToByteString(encodeCredit(flow.size)));
    return {
      message: (bytes, isBinary) => this.#receive(bytes, !isBinary),
      heard: () => {},
      closed: (code, isOverlong) => {
        // The connection broke before the end of the stream, or a message could not be taken.
        const ending = code === ABNORMAL || isOverlong === true ? 'cut' : 'complete';
        if (!this.channel.leaveWriter(ending)) return;
        if (ending === 'cut') this.#options.note('writer_lost');
        this.#afterWriter();
      },
    };
  }

  /** A connection takes the reading end. */
  connectReader(socket: EndSocket, keepsToCredit: boolean, firstCredit: Credit = READER_WINDOW): SocketEvents {
    if (!this.channel.take('read')) return this.#turnAway(socket);
    const flow = keepsToCredit ? new CreditAccount(firstCredit) : undefined;
    this.#reader = { socket, flow };
    this.pump();
    return {
      message: (bytes, isBinary) => {
        // No data flows from a reader to its writer. A reader with credit grants it here.
        if (flow !== undefined) this.#takeCredit(socket, flow, bytes, isBinary);
      },
      heard: () => {},
      closed: () => {
        if (!this.channel.leaveReader()) return;
        if (this.channel.stateOf('write') !== 'gone') this.#options.note('reader_left');
        this.#afterReader();
      },
    };
  }

  /** Sends the reader as much as it can take now. */
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
      // Sending may have found the connection broken, and then the channel is over.
      if (this.channel.stateOf('read') !== 'open') return;
    }
    if (held.fileBytes === 0) this.#closeSpill();
    const ending = this.channel.endingForReader;
    if (ending !== undefined) this.#finish(reader, ending);
    else if (held.bytesToFetch > 0) this.#fetch();
    // Only a full socket can have ended the loop then, even if it has room again by now.
    else if (!held.isEmpty && hasCredit(reader)) this.#lookLater();
  }

  /** Closes the ends that are still connected, in both directions. */
  end(code: number, reason: string): void {
    const { channel } = this;
    const [hadWriter, hadReader] = [channel.leaveWriter('cut'), channel.leaveReader()];
    channel.held.discard();
    this.#release();
    if (hadWriter) this.#writer?.socket.close(code, reason);
    if (hadReader) this.#reader?.socket.close(code, reason);
    this.#options.ended();
  }

  /**
   * The close frame waits until nothing is left to send: an engine that stops would cut off what the socket still
   * holds.
   */
  #finish({ socket }: End<CreditAccount>, ending: Ending): void {
    if (socket.bufferedBytes > 0) this.#lookLater();
    else this.#closeReader(...GOODBYES[ending]);
  }

  /** No event reports that a socket has room again. A reader that makes no progress is checked less and less often. */
  #lookLater(): void {
    this.#cancelLook ??= this.#options.clock.after(this.#lookDelayMs, () => {
      this.#cancelLook = undefined;
      this.#lookDelayMs = Math.min(2 * this.#lookDelayMs, LOOK_MS_MAX);
      this.pump();
    });
  }

  #turnAway(socket: EndSocket): SocketEvents {
    this.#options.note('end_taken');
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
      const { memoryBytes, fileBytes, fullLimit } = channel.held;
      this.#options.note('buffer_full', { held_bytes: memoryBytes + fileBytes, limit: fullLimit });
      this.#closeWriter(CLOSE_CODES.tryAgainLater, `the reader is too slow, and no more is kept for it (${fullLimit})`);
    }
    this.pump();
  }

  #deliver(reader: End<CreditAccount>, bytes: Uint8Array, isText: boolean): void {
    const { socket, flow } = reader;
    this.#lookDelayMs = LOOK_MS_MIN;
    flow?.spend(bytes.length);
    const isTaken = isText ? socket.sendText(bytesToByteString(bytes)) : socket.sendBinary(bytes);
    // The engine's own limit is far below the library's. Whatever the cause, the reader must not miss a frame
    // unnoticed.
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
    this.#options.note('protocol_error');
    socket.close(
      CLOSE_CODES.protocolError,
      'a reader sends nothing but credit: {"type":"credit","frames":N,"bytes":N}',
    );
  }

  /** False: the disk failed, and the writer is closed because of it. */
  #append(bytes: Uint8Array, isText: boolean): boolean {
    try {
      this.#spill ??= this.#options.openSpillFile(this.#options.fileBytesMax);
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

  /** Frames after the failed one are lost, so the reader must not get any later frame. */
  #spillFailed(error: unknown): void {
    this.#options.note('spill_failed', { error: error instanceof Error ? error.message : String(error) });
    this.end(CLOSE_CODES.internalError, 'the engine could not keep what the reader has not taken yet');
  }

  #closeSpill(): void {
    this.#spill?.close();
    this.#spill = undefined;
  }

  /** No further frame will be sent. */
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
    if (this.channel.isOver) this.#options.ended();
  }

  #afterReader(): void {
    this.#release();
    this.#closeWriter(CLOSE_CODES.otherEndGone, READER_GONE);
    if (this.channel.isOver) this.#options.ended();
  }
}

/** Whether a reader may be sent one more frame: its socket has room and it has credit. */
function takes(reader: End<CreditAccount>): boolean {
  return hasCredit(reader) && reader.socket.bufferedBytes <= UNSENT_BYTES_MAX;
}

function hasCredit({ flow }: End<CreditAccount>): boolean {
  return flow === undefined || flow.isOpen;
}

/** Enough to keep a fast connection busy until the next check: 500 MiB per second. */
const UNSENT_BYTES_MAX = 512 * 1024;
const LOOK_MS_MIN = 1;
const LOOK_MS_MAX = 32;
/** A close without a close frame, as the socket library reports it. */
const ABNORMAL = 1006;
const READER_GONE = 'the reader is gone';
/** How the reader learns whether it has everything. Foreign readers treat any close as the end (wire 7). */
const GOODBYES: Readonly<Record<Ending, readonly [number, string]>> = {
  complete: [1000, 'stream_complete'],
  cut: [CLOSE_CODES.otherEndGone, 'the writer was lost: the end of the stream is missing'],
};
