// The messages between two engines about an end of a channel: a client of one engine has the end, the other engine has
// the channel. They travel between calls and results, in the binary form (protocol/binary/binary-layout.ts):
//
//   CHANNEL   u32 number of the end · what its step says          (from byte 8; the flags are the step)

export const CHANNEL_KIND = 7;
export const CHANNEL_HEADER_BYTES = 12;

/** What a message is, in the lower bits of its flags. An end has the number that its opener gave it. */
export const CHANNEL_STEP = {
  /** An `EndOpening` as JSON. */
  open: 1,
  text: 2,
  bytes: 3,
  /** In place of the depth the close code; the reason as text. */
  close: 4,
  /** In place of the number how many bytes of texts and bytes were received since the last such message. */
  received: 5,
} as const;

export const CHANNEL_STEP_BITS = 7;
/** The sender of this message opened the end. */
export const CHANNEL_OF_SENDER = 8;

/** A client of the sender asks for this end. */
export interface EndOpening {
  readonly id: string;
  readonly key: string;
  readonly direction: 'read' | 'write';
}
