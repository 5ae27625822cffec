// One WebSocket as the engine sees it, independent of the library.

import type { ByteString } from '../protocol/json/byte-string.ts';
import type { PreparedTexts } from './server-frames.ts';
import type { ClientCertificate } from './tls.ts';

/** One open connection. Every member may be called after the client is gone: it then does nothing. */
export interface PeerSocket {
  readonly isOpen: boolean;
  /** Bytes handed over that the operating system has not taken yet. Inside a cork, corked bytes may count too. */
  readonly bufferedBytes: number;
  /** Sends one text frame. False: the library dropped it, which the engine's own limits should have prevented (L5). */
  sendText(text: ByteString): boolean;
  /** Sends each message as one text frame, all of them in one write. False as for `sendText`. */
  sendPrepared(texts: PreparedTexts): boolean;
  /** Sends one binary frame; the bytes may be reused when it returns. */
  sendBinary(bytes: Uint8Array): boolean;
  /** Runs `write`; all frames sent inside leave together. */
  cork(write: () => void): void;
  /**
   * Calls back once, after this call returned, when the operating system has taken all that was handed over before;
   * never for a connection that has ended. To be called outside a cork, while bytes wait, and not again before the
   * callback.
   */
  whenDrained(drained: () => void): void;
  ping(): void;
  /** Sends a close frame with a code. Nothing may be sent after it. */
  close(code: number, reason: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
}

/** The events of one connection. The bytes of a message are valid only during the call. */
export interface SocketEvents {
  message(bytes: Uint8Array, isBinary: boolean): void;
  /** A ping or pong arrived: the client is alive. */
  heard(): void;
  /** `isOverlong`: the client was closed because it sent a message over the limit. */
  closed(code: number, isOverlong?: boolean): void;
}

/** An upgrade request as received, before it is answered. Its headers can be read until `admit` returns. */
export interface UpgradeRequest {
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  /** The verified certificate of the client, if it has one. */
  readonly clientCertificate?: ClientCertificate;
  readonly subprotocols: readonly string[];
  /** Of a repeated header the last value, as in `headers`; `undefined` also for an empty one. */
  header(name: string): string | undefined;
  /** Of a header that is a list: all its lines joined. */
  list(name: string): string | undefined;
  /** All headers by lower-case name; of repeated ones the last. A copy: it may be kept. */
  headers(): ReadonlyMap<string, string>;
}

export type Admission =
  | {
      readonly ok: true;
      readonly subprotocol: string | undefined;
      /** Called with the connection in place of the listener's own `connected`: it knows the request. */
      readonly connected?: (socket: PeerSocket, request: AcceptedRequest) => SocketEvents;
    }
  | { readonly ok: false; readonly status: number; readonly text: string };

/** A verdict that comes later. It must come: the client waits for it without a limit. */
export interface PendingAdmission {
  readonly verdict: Promise<Admission>;
  /** The client left before it was admitted: the verdict has no effect any more. Never follows `connected`. */
  gone(): void;
}

/** Which requests may open WebSockets, and how large their messages may be. */
export interface SocketOptions {
  readonly frameBytesMax: number;
  /** The library must not drop frames below this size; the engine's own limits act far earlier. */
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
