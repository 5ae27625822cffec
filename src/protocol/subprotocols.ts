// What a client may ask for when it upgrades. A client that asks for nothing speaks the peer's JSON protocol.

/** The binary form of `binary-layout.ts`, spoken by our own SDK. */
export const SUBPROTOCOL_BINARY = 'svc.msgpack.v1';
/** The same, whose payloads may also be in the compact form of `compact-layout.ts`. */
export const SUBPROTOCOL_COMPACT = 'svc.compact.v1';
/** JSON frames, spoken by our own SDK: the engine may add fields and frames the peer does not know. */
export const SUBPROTOCOL_JSON = 'svc.json.v1';

/** An end of a data channel that keeps to credit (docs/channels.md). Never selected for a worker connection. */
export const SUBPROTOCOL_CHANNEL = 'svc.channel.v1';

/** What a browser offers in front of its token, as it can set no header. Selected, it changes nothing. */
export const SUBPROTOCOL_AUTHORIZATION = 'Authorization';

/** A client of the stream server that takes several messages in one frame (docs/streams.md). */
export const SUBPROTOCOL_STREAM = 'svc.stream.v1';

/** Of worker connections, in the order in which the engine prefers them. */
export const SUBPROTOCOLS = [SUBPROTOCOL_COMPACT, SUBPROTOCOL_BINARY, SUBPROTOCOL_JSON] as const;

export type Subprotocol = (typeof SUBPROTOCOLS)[number];
