// The binary form of the wire, `svc.compact.v2`, `svc.compact.v1` and `svc.msgpack.v2`: the place of each field.
// docs/protocol.md describes it in words; test/golden/binary holds vectors. Shared by the engine and the SDKs, so it
// uses no Node built-in.
//
// One WebSocket message carries any number of these, one after the other. All numbers are little-endian.
//
//   every message   u32 length of what follows the length field · u8 kind · u8 flags · u16 depth
//   CONTROL         the JSON text of a frame, as in the JSON form                                  (from byte 8)
//   NAME            u32 number · the text that the sender will call by this number                 (from byte 8)
//   CALL            u32 id, low · u32 id, high · u32 function, by number · u32 timeout in ms
//                   · a section (u32 length, bytes) for each of the flags METADATA, TRACEPARENT, BAGGAGE, EXTRA
//                   · the payload, to the end                                                      (from byte 24)
//   RESULT          u32 id, low · u32 id, high · the payload or error, to the end                  (from byte 16)
//   SHAPE           u32 number · a key list, JSON; towards the engine a request for its number     (from byte 8)
//   ROUTE           u32 number · what all requests of a route have in common, JSON                 (from byte 8)
//
// Engines send each other one kind more: protocol/cluster/channel-message.ts.
//
// Payloads are JSON text, or packed: in the compact form of compact-layout.ts on `svc.compact.v2` and `svc.compact.v1`,
// MessagePack on `svc.msgpack.v2`. On `svc.compact.v2` requests of HTTP triggers and their replies are records
// (protocol/http/record-layout.ts). Code that only passes payloads on does not read them.

export const KIND = { control: 1, name: 2, call: 3, result: 4, shape: 5, route: 6 } as const;

export const FLAG = {
  /** CALL: a section with the metadata, JSON. */
  metadata: 1,
  /** CALL: a section with the W3C traceparent. */
  traceparent: 2,
  /** CALL: a section with the W3C baggage. */
  baggage: 4,
  /** CALL: a section with JSON: towards the engine the action `enqueue`, towards a worker the trigger. */
  extra: 8,
  /** CALL, towards the engine: no caller waits for an answer. */
  isVoid: 16,
  /** CALL, towards a worker: the function is the number of a route, and the payload is the record of a request. */
  isRequest: 16,
  /** RESULT, between engines: the error is a refusal, and no handler has seen the call. */
  isUnhanded: 2,
  /** RESULT: the payload is the record of a reply. Only the answer to a request may be one. */
  isReply: 1,
  /** CALL, RESULT: there is a payload; without it the value is absent. */
  payload: 32,
  /** CALL, towards a worker: its trace is not kept and has no id yet. A worker that needs an id makes one, flags 00. */
  isUntraced: 64,
  /** RESULT: the payload is an error. */
  isError: 64,
  /** CALL, RESULT: the payload is packed, in the form of the connection. Never set for an error. */
  packed: 128,
} as const;

/** Bytes before the content of a message. */
export const HEADER_BYTES = { control: 8, name: 12, call: 24, result: 16, shape: 12, route: 12 } as const;

/** Names, and routes, that one side may define in one direction of one connection. */
export const NAMES_MAX = 65_536;
