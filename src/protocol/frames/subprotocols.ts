// What a client may request when it upgrades. A client that requests nothing speaks the JSON protocol of `iii`.

/**
 * The binary form of `binary-layout.ts` with compact payloads (`compact-layout.ts`), and requests and replies of HTTP
 * triggers as records (`record-layout.ts`), spoken by our own SDK.
 */
export const SUBPROTOCOL_RECORDS = 'svc.compact.v2';
/** The same without records, spoken by the SDK of version 0.1. */
export const SUBPROTOCOL_COMPACT = 'svc.compact.v1';
/** The binary form with MessagePack payloads: for clients of any language. */
export const SUBPROTOCOL_MSGPACK = 'svc.msgpack.v2';
/** JSON frames, spoken by our own SDK: the engine may add fields and frames that `iii` does not know. */
export const SUBPROTOCOL_JSON = 'svc.json.v1';

/** An end of a data channel with credit (docs/channels.md). Never selected for a worker connection. */
export const SUBPROTOCOL_CHANNEL = 'svc.channel.v1';

/** A browser offers it in front of its token, because it cannot set headers. Selecting it changes nothing. */
export const SUBPROTOCOL_AUTHORIZATION = 'Authorization';

/** A client of the stream server that accepts several messages in one frame (docs/streams.md). */
export const SUBPROTOCOL_STREAM = 'svc.stream.v1';

/** For worker connections, in the engine's order of preference. */
export const SUBPROTOCOLS = [SUBPROTOCOL_RECORDS, SUBPROTOCOL_COMPACT, SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON] as const;

export type Subprotocol = (typeof SUBPROTOCOLS)[number];

/** Whether payloads are compact. */
export function isCompactForm(subprotocol: string | undefined): boolean {
  return subprotocol === SUBPROTOCOL_RECORDS || subprotocol === SUBPROTOCOL_COMPACT;
}

export function isBinaryForm(subprotocol: string | undefined): boolean {
  return isCompactForm(subprotocol) || subprotocol === SUBPROTOCOL_MSGPACK;
}
