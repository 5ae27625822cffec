// Reasons for closing a WebSocket. The number alone says whether a client should reconnect:
// 1001, 1006, 1012, 1013 and 44xx below 4420 are temporary; 1002, 1003, 1007 to 1009 are the client's fault.

export const CLOSE_CODES = {
  goingAway: 1001,
  protocolError: 1002,
  /** The request is invalid here, such as one for a channel end that is already in use. */
  refused: 1008,
  messageTooBig: 1009,
  /** Something that the engine needs for this connection failed, such as its disk. */
  internalError: 1011,
  /** More arrived than the engine may buffer for it. */
  tryAgainLater: 1013,
  /** A newer connection reattached in its place. */
  replaced: 4400,
  /** Nothing was registered or called within the allowed time. */
  notRegistered: 4401,
  /** The client reads too slowly: its send queue exceeded the limit. */
  tooSlow: 4408,
  /** Nothing arrived from the client for the liveness limit. */
  silent: 4409,
  /** More messages than allowed arrived for longer than allowed. */
  tooManyMessages: 4429,
  /** The other end of a channel is gone: data that was still to arrive from it, or at it, is lost. */
  otherEndGone: 4420,
} as const;

/**
 * The connection has to authenticate again: it has reached its maximum age, or was revoked. It is not in the list above
 * because the SDKs need no name for it, and a page loads every byte of that list.
 */
export const PROVE_AGAIN = 4402;
