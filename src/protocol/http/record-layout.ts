// Requests and replies of HTTP triggers as records: payloads of `svc.compact.v2` (docs/protocol.md). Shared by the
// engine and the SDKs, so it uses no Node built-in. All numbers are little-endian.
//
//   request   u16 number of texts · u16 length in bytes of each · the texts, UTF-8 · the body, JSON, to the end
//   reply     u16 status · u16 flags · u32 length of the headers · the headers, UTF-8 · the body, to the end
//
// The texts of a request are those of TEXT in this order, the values of the parameters of its route, and the values of
// its headers. Names of headers are one text, separated by line feeds. A request without a body of JSON ends after its
// texts. The headers of a reply are names and values in turn, each followed by a line feed.

export const TEXT = {
  url: 0,
  clientAddress: 1,
  /** The part of the ids of its channels that differs from those of other requests. */
  channelName: 2,
  bodyKey: 3,
  answerKey: 4,
  /** Empty: the method of the route. */
  method: 5,
  /** What middleware returned, JSON; empty: nothing. */
  context: 6,
  headerNames: 7,
} as const;

/** Texts that every request has. */
export const TEXTS_MIN = 8;
/** The longest text whose length fits into a request. */
export const TEXT_BYTES_MAX = 0xffff;

export const REPLY_HEADER_BYTES = 8;
/** The body is text of the handler's own; without it, JSON. */
export const REPLY_BODY_IS_TEXT = 1;

/** What is the same in all requests of a route, sent to each connection once. */
export interface RouteConstants {
  readonly function_id: string;
  readonly trigger: { readonly type: string; readonly id: string };
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  /** What ids of channels end with. */
  readonly channels: string;
  /** The baggage of calls that have a trace and no baggage of their own. */
  readonly baggage: string;
}

export const BODY_PREFIX = 'http-body-';
export const ANSWER_PREFIX = 'http-answer-';
