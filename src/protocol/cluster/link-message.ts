// The messages between two engines: a header, and in messages of the kind `frames` the bytes of frames of the binary
// form (protocol/binary/binary-layout.ts). All numbers are little-endian. docs/spec/cluster.md describes them in words.
//
//   u8 version · u8 kind · u8 flags · u8 0
//   u32 session of the sender · u32 session of the receiver, 0 while the sender does not know it
//   u32 number: of this message where it carries frames, else of the last such message that was sent
//   u32 number of the last message with frames that was received
//   u32 bytes of frames received in this session, modulo 2^32
//   u32 calls that the sender has in flight

/** Raised when an engine of the version before could not read the messages any more. */
export const LINK_VERSION = 1;
export const LINK_HEADER_BYTES = 28;

export const LINK_KIND = { frames: 1, ask: 2, answer: 3, report: 4 } as const;

export const LINK_FLAG = {
  /** The next message continues these frames: a frame may be larger than a message of the carrier. */
  continues: 1,
  /** The sender is draining: it takes calls of running chains, and new ones where no other engine can. */
  draining: 2,
} as const;

export interface LinkHeader {
  kind: number;
  flags: number;
  senderSession: number;
  receiverSession: number;
  number: number;
  receivedNumber: number;
  receivedBytes: number;
  callsInFlight: number;
}

/** Writes the header into the first bytes of the target. */
export function writeLinkHeader(target: Buffer, header: Readonly<LinkHeader>): void {
  target[0] = LINK_VERSION;
  target[1] = header.kind;
  target[2] = header.flags;
  target[3] = 0;
  target.writeUInt32LE(header.senderSession, 4);
  target.writeUInt32LE(header.receiverSession, 8);
  target.writeUInt32LE(header.number, 12);
  target.writeUInt32LE(header.receivedNumber, 16);
  target.writeUInt32LE(header.receivedBytes, 20);
  target.writeUInt32LE(header.callsInFlight, 24);
}

/** `undefined`: these bytes are no message of this version. */
export function readLinkHeader(bytes: Buffer): LinkHeader | undefined {
  if (bytes.length < LINK_HEADER_BYTES || bytes[0] !== LINK_VERSION) return undefined;
  return {
    kind: bytes[1] ?? 0,
    flags: bytes[2] ?? 0,
    senderSession: bytes.readUInt32LE(4),
    receiverSession: bytes.readUInt32LE(8),
    number: bytes.readUInt32LE(12),
    receivedNumber: bytes.readUInt32LE(16),
    receivedBytes: bytes.readUInt32LE(20),
    callsInFlight: bytes.readUInt32LE(24),
  };
}
