// Why a WebSocket was closed. A client knows from the number alone whether to come back:
// 1001, 1006, 1012, 1013 and 44xx below 4420 are temporary; 1002, 1003, 1007 to 1009 are the client's fault.

export const CLOSE_CODES = {
  goingAway: 1001,
  protocolError: 1002,
  /** The request makes no sense here, such as for the end of a channel that somebody has already. */
  refused: 1008,
  messageTooBig: 1009,
  /** Something that the engine needs for this connection failed, such as its disk. */
  internalError: 1011,
  /** More came in than the engine may keep for it. */
  tryAgainLater: 1013,
  /** The connection is older than the one that reattached in its place. */
  replaced: 4400,
  /** Nothing was asked for within the time that a connection has for it. */
  notRegistered: 4401,
  /** The peer reads too slowly: its outbound buffer passed the limit. */
  tooSlow: 4408,
  /** Nothing was heard from the peer for the liveness limit. */
  silent: 4409,
  /** More messages than allowed came for longer than allowed. */
  tooManyMessages: 4429,
  /** The other end of a channel is gone: what it still had to say, or was still to be told, is lost. */
  otherEndGone: 4420,
} as const;

/**
 * The connection has to prove itself again: it is as old as it may be, or was revoked. Apart from the others, because
 * the SDKs need no name for it, and every byte of theirs is loaded by a page.
 */
export const PROVE_AGAIN = 4402;
