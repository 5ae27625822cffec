// The connection of one channel end: dialled when it is first needed, watched, ended once.
//
// Neighbours: `channel-writer.ts` and `channel-reader.ts` each have one; `channels.ts` ends the remaining ones when the
// worker shuts down.
//
// - `onEnd` is called exactly once for every socket that was dialled, and is its last event.
// - An end can be used once, so a lost connection is not dialled again.

import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import { SUBPROTOCOL_CHANNEL } from '../../protocol/frames/subprotocols.ts';
import { SvcError } from '../calls/errors.ts';
import { Liveness } from '../connection/liveness.ts';
import type { Settings } from '../worker/options.ts';
import { HEADROOM_BYTES, type Platform, type PlatformSocket, type SocketClosure } from '../worker/platform.ts';
import type { ChannelRef } from './channel-ref.ts';

export interface ChannelContext {
  readonly platform: Platform;
  readonly settings: Settings;
  /** The ends that have a connection. */
  readonly live: LiveEnds;
}

export interface LiveEnds {
  /** Called when the end dials. */
  enter(end: LiveEnd): void;
  /** Called when the connection is over; may be called for an end that never had one. */
  leave(end: LiveEnd): void;
}

/** An end with a connection, as the shutdown of the worker sees it. */
export interface LiveEnd {
  /** Whether it only has to send what was already written. */
  isClosing(): boolean;
  /** Breaks off the connection. Code that waits for the end gets the error. */
  fail(error: SvcError): void;
}

export interface ChannelSocketEvents {
  onMessage(message: string | Uint8Array): void;
  onEnd(closure: SocketClosure): void;
}

export class ChannelSocket {
  readonly #platform: Platform;
  readonly #events: ChannelSocketEvents;
  readonly #socket: PlatformSocket;
  readonly #liveness: Liveness;
  /** Memory for frames of bytes, with room for a header in front; absent while the socket still needs it. */
  #memory: Uint8Array | undefined;
  #isOver = false;

  constructor({ platform, settings }: ChannelContext, ref: ChannelRef, events: ChannelSocketEvents) {
    const { clock } = platform;
    this.#platform = platform;
    this.#events = events;
    this.#socket = platform.openSocket(
      {
        purpose: 'channel',
        url: channelUrl(settings.url, ref),
        headers: settings.headers,
        subprotocols: [SUBPROTOCOL_CHANNEL],
        messageBytesMax: settings.frameBytesMax,
      },
      {
        onMessage: (message) => {
          if (this.#isOver) return;
          this.#liveness.heard(clock.monotonicMs());
          events.onMessage(message);
        },
        onAlive: () => this.#liveness.heard(clock.monotonicMs()),
        onClose: (closure) => this.#end(closure),
      },
    );
    // Liveness also covers the dial: a dial that hears nothing ends the same way.
    this.#liveness = new Liveness(clock, {
      ping: () => this.#socket.ping(),
      onSilent: (silentMs) =>
        this.#abandon({ code: 1006, reason: `nothing heard from the engine for ${Math.round(silentMs / 1000)} s` }),
    });
  }

  sendText(text: string): void {
    this.#socket.sendTexts([text]);
  }

  /** The caller may reuse the bytes when this returns. */
  sendBytes(bytes: Uint8Array): void {
    const end = HEADROOM_BYTES + bytes.length;
    const memory =
      this.#memory !== undefined && this.#memory.length >= end
        ? this.#memory
        : this.#platform.memory.allocate(Math.max(end, HEADROOM_BYTES + FRAME_BYTES));
    memory.set(bytes, HEADROOM_BYTES);
    this.#memory = this.#socket.sendBytes(memory, HEADROOM_BYTES, end) ? memory : undefined;
  }

  /** Closes after everything written has been sent. */
  close(reason: string): void {
    this.#socket.close(1000, reason);
  }

  /** Breaks off without a close frame; `onEnd` is not called any more. */
  terminate(): void {
    this.#isOver = true;
    this.#liveness.stop();
    this.#socket.terminate();
  }

  #abandon(closure: SocketClosure): void {
    this.#socket.terminate();
    this.#end(closure);
  }

  #end(closure: SocketClosure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#liveness.stop();
    this.#events.onEnd(closure);
  }
}

/** The largest frame of bytes: long enough for a low overhead, short enough to keep credit flowing. */
export const FRAME_BYTES = 64 * 1024;

/** The error that the user of an interrupted end gets. */
export function channelError({ channel_id }: ChannelRef, { code, reason, httpStatus }: SocketClosure): SvcError {
  const channel = `channel ${channel_id}`;
  if (httpStatus === 404) {
    return new SvcError('NOT_FOUND', `${channel}: unknown to the engine: it has ended, or its key is wrong`);
  }
  if (httpStatus !== undefined) return new SvcError('UNREACHABLE', `${channel}: refused with ${httpStatus} ${reason}`);
  if (code === CLOSE_CODES.refused)
    return new SvcError('CHANNEL_TAKEN', `${channel}: this end is already in use or was used before`);
  return new SvcError('CHANNEL_CLOSED', `${channel}: ${reason === '' ? 'the connection was lost' : reason} (${code})`);
}

function channelUrl(base: string, { channel_id, access_key, direction }: ChannelRef): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/ws/channels/${encodeURIComponent(channel_id)}`;
  url.searchParams.set('key', access_key);
  url.searchParams.set('dir', direction);
  return url.href;
}
