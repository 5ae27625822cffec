// What the engine knows of one WebSocket, whichever library carries it.

import type { ByteString } from '../protocol/byte-string.ts';
import type { HttpListenOptions } from './http.ts';
import type { PreparedTexts } from './prepared-texts.ts';

/** One open connection. Every member may be called after the peer is gone: it then does nothing. */
export interface PeerSocket {
  readonly isOpen: boolean;
  /** Bytes handed over that the operating system has not taken yet. Inside a cork, all that it holds back may count. */
  readonly bufferedBytes: number;
  /** Sends one text frame. False: the library dropped it, which our own limits should have prevented (L5). */
  sendText(text: ByteString): boolean;
  /** Sends each message as one text frame, all of them in one write. False as for `sendText`. */
  sendPrepared(texts: PreparedTexts): boolean;
  /** Sends one binary frame; the bytes may be used again when it returns. */
  sendBinary(bytes: Uint8Array): boolean;
  /** Runs `write`; all frames sent inside leave together. */
  cork(write: () => void): void;
  /**
   * Tells once, behind the call, when the operating system has taken all that was handed over before; never of a
   * connection that has ended. Asked outside a cork, while bytes wait, and not again before it was told.
   */
  whenDrained(told: () => void): void;
  ping(): void;
  /** Says goodbye with a code. Nothing may be sent after it. */
  close(code: number, reason: string): void;
  /** Ends the connection at once, without a goodbye. */
  terminate(): void;
}

/** What happens on one connection. The bytes of a message are valid only during the call. */
export interface SocketEvents {
  message(bytes: Uint8Array, isBinary: boolean): void;
  /** A ping or pong arrived: the peer lives. */
  heard(): void;
  /** `isOverlong`: the peer sent a message over the limit and was closed for it. */
  closed(code: number, isOverlong?: boolean): void;
}

/** An upgrade request as it came, before it is answered. Its headers can be read until `admit` returns. */
export interface UpgradeRequest {
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly subprotocols: readonly string[];
  /** Of one that came twice the last, as in `headers`; `undefined` also for one that is empty. */
  header(name: string): string | undefined;
  /** Of a header that is a list: all its lines as one. */
  list(name: string): string | undefined;
  /** All of them by lower-case name; of those that came twice the last. A copy: it may be kept. */
  headers(): ReadonlyMap<string, string>;
}

export type Admission =
  | {
      readonly ok: true;
      readonly subprotocol: string | undefined;
      /** Told of the connection instead of the listener's own `connected`: it knows what was asked for. */
      readonly connected?: (socket: PeerSocket, request: AcceptedRequest) => SocketEvents;
    }
  | { readonly ok: false; readonly status: number; readonly text: string };

/** A verdict that takes its time. It must come; the peer waits for as long. */
export interface PendingAdmission {
  readonly verdict: Promise<Admission>;
  /** The peer left before it was let in: what the verdict says is of no use any more. Never follows `connected`. */
  gone(): void;
}

export interface ListenOptions extends SocketOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** Who may open WebSockets, and how large their messages may be. */
export interface SocketOptions {
  readonly frameBytesMax: number;
  /** The library must not drop what we send below this; our own limits act far earlier. */
  readonly bufferedBytesMax: number;
  admit(request: UpgradeRequest): Admission | PendingAdmission;
  /** A connection was accepted; `path` is that of its upgrade request. */
  connected(socket: PeerSocket, request: AcceptedRequest): SocketEvents;
}

export interface AcceptedRequest {
  readonly path: string;
  readonly remoteAddress: string;
  readonly subprotocol: string | undefined;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Stops accepting; open connections stay. */
  stopAccepting(): void;
  /** Ends every connection that is left and frees the port. */
  close(): void;
}

export interface Transport {
  readonly name: string;
  /** Rejects with a `ListenError` when the port cannot be had. */
  listen(options: ListenOptions): Promise<Listener>;
  /** A port that speaks HTTP. Rejects likewise. */
  serve(options: HttpListenOptions): Promise<Listener>;
}

export class ListenError extends Error {
  constructor(host: string, port: number) {
    super(`Cannot listen on ${host}:${port}: the port is in use, or the address is not one of this machine`);
    this.name = 'ListenError';
  }
}
