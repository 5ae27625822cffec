// The reason in a close frame: a control frame has room for 125 bytes, and two of them are the code.

/** As much of the reason as fits, in whole characters: half of one would be a breach of the rules on our side. */
export function fitReason(reason: string): string {
  // No text of that length is too long.
  if (reason.length <= REASON_BYTES_MAX / UTF8_BYTES_MAX) return reason;
  const { read } = ENCODER.encodeInto(reason, SCRATCH);
  return reason.slice(0, read);
}

const REASON_BYTES_MAX = 123;
/** Of one unit of a JavaScript string. */
const UTF8_BYTES_MAX = 3;
const ENCODER = new TextEncoder();
const SCRATCH = new Uint8Array(REASON_BYTES_MAX);
