// What two routers of a process say about an HTTP request or a live socket that one accepted and the other answers.
// Each has a number, which the accepting router gives.

import type { ByteString } from '../../../protocol/json/byte-string.ts';
import type { HeaderLines, HttpBody, HttpExchange } from '../../../transport/http.ts';

export type PassedRequest = Pick<HttpExchange, 'method' | 'path' | 'query' | 'headers' | 'remoteAddress' | 'bodyBytes'>;

export interface PassedUpgrade {
  readonly remoteAddress: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

/** From the router that accepted it. */
export type ToFirstRouter = { readonly number: number } & (
  | { readonly kind: 'request'; readonly request: PassedRequest }
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  | { readonly kind: 'body end' }
  | { readonly kind: 'upgrade'; readonly upgrade: PassedUpgrade }
  | { readonly kind: 'opened' }
  | { readonly kind: 'message'; readonly bytes: Uint8Array; readonly isBinary: boolean }
  | { readonly kind: 'heard' }
  /** The client has left. */
  | { readonly kind: 'gone'; readonly code: number; readonly isOverlong: boolean }
  /** It has handed over `bytes` more; `waiting` of all are not with the operating system yet. */
  | { readonly kind: 'written'; readonly bytes: number; readonly waiting: number }
  | { readonly kind: 'drained' }
);

/** From the router that answers it. */
export type FromFirstRouter = { readonly number: number } /** It has read `bytes` more of the body. */ & (
  | { readonly kind: 'read'; readonly bytes: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'stay paused' }
  | { readonly kind: 'resume' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: HeaderLines;
      readonly body: HttpBody | undefined;
    }
  | { readonly kind: 'begin'; readonly status: number; readonly headers: HeaderLines }
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'abort' }
  | { readonly kind: 'admitted'; readonly subprotocol: string | undefined }
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: ByteString }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  | { readonly kind: 'when drained' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  | { readonly kind: 'terminate' }
);

/** `Omit` of each member of the union. */
export type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'number'> : never;
