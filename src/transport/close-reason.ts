// The reason in a close frame: a control frame has room for 125 bytes, and the code takes two of them.

/** As much of the reason as fits, in whole characters: half a character would break the protocol. */
export function fitReason(reason: string): string {
  // No text of this length is too long.
  if (reason.length <= REASON_BYTES_MAX / UTF8_BYTES_MAX) return reason;
  const { read } = ENCODER.encodeInto(reason, SCRATCH);
  return reason.slice(0, read);
}

const REASON_BYTES_MAX = 123;
/** Per UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
const ENCODER = new TextEncoder();
const SCRATCH = new Uint8Array(REASON_BYTES_MAX);
