// The session between this engine and another: which of the messages that arrive count, what may be sent, and when the
// session has ended. Pure: the carrier sends and receives.
//
// A message can be lost between two engines, and nothing is sent twice. So a session lasts exactly as long as nothing
// was lost in either direction; calls in flight end with it.
//
// States and transitions:
//   seeking   asks the other engine; ends when that has answered with its session id
//   up        frames are sent and taken; ends when a message is missing, when two asks have no answer, when the other
//             engine has another session, or after 5 s without room
// Invariants:
//   - A session id is never used again: what was sent for an earlier session is dropped.
//   - Both directions count from 1 at the start of a session, and frames are taken in that order without a gap.

import { LINK_KIND, type LinkHeader } from '../../protocol/cluster/link-message.ts';

/** Bytes of frames in transit to the other engine that it has not reported as read. */
export const WINDOW_BYTES = 8 * 1024 * 1024;
const ASKS_UNANSWERED_MAX = 2;
const WITHOUT_ROOM_MS_MAX = 5_000;

/** What a message means for the session that was up when it arrived. */
export type Arrival =
  /** Its frames count, if it has any. */
  | 'taken'
  /** It belongs to another session, or to none. */
  | 'dropped'
  /** It shows that the session is over. */
  | 'over';

export type LinkEnd = 'a message was lost' | 'it did not answer' | 'it began a new session' | 'it does not read';

export class LinkSession {
  readonly #newId: () => number;
  #ownId: number;
  #peerId = 0;
  #isUp = false;
  #sentNumber = 0;
  #sentBytes = 0;
  #readBytes = 0;
  #receivedNumber = 0;
  #receivedBytes = 0;
  #reportedBytes = 0;
  /** The number that the other engine says it sent last. It must have arrived by the next ask. */
  #owedNumber = 0;
  #unanswered = 0;
  #fullSinceMs: number | undefined;

  /** `newId`: a random number from 1 to 2^32 - 1. */
  constructor(newId: () => number) {
    this.#newId = newId;
    this.#ownId = newId();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Whether this many further bytes may be sent now. At least one message always may. */
  hasRoom(bytes: number): boolean {
    const inTransit = this.#inTransit;
    return inTransit === 0 || inTransit + bytes <= WINDOW_BYTES;
  }

  /** Bytes of frames received since the other engine was last informed of them. */
  get unreportedBytes(): number {
    return (this.#receivedBytes - this.#reportedBytes) >>> 0;
  }

  /** The fields of the next message without frames. */
  header(kind: number): Pick<LinkHeader, HeaderField> {
    this.#reportedBytes = this.#receivedBytes;
    return {
      kind,
      senderSession: this.#ownId,
      receiverSession: this.#peerId,
      number: this.#sentNumber,
      receivedNumber: this.#receivedNumber,
      receivedBytes: this.#receivedBytes,
    };
  }

  /** The fields of the next message with this many bytes of frames. */
  next(bytes: number): Pick<LinkHeader, HeaderField> {
    this.#sentNumber = (this.#sentNumber + 1) >>> 0;
    this.#sentBytes = (this.#sentBytes + bytes) >>> 0;
    return this.header(LINK_KIND.frames);
  }

  /** `bytes`: of frames. A session that is over has to be ended with `end`. */
  take(header: LinkHeader, bytes: number): Arrival {
    const isForThis = header.receiverSession === this.#ownId;
    if (this.#isUp && header.senderSession !== this.#peerId) {
      // An answer comes on a way of its own, and can be one to an ask of an earlier session.
      return header.kind === LINK_KIND.answer && !isForThis ? 'dropped' : 'over';
    }
    if (!this.#isUp) {
      if (header.kind === LINK_KIND.ask) this.#peerId = header.senderSession;
      if (!isForThis) return header.kind === LINK_KIND.ask ? 'taken' : 'dropped';
      this.#begin(header.senderSession);
    }
    if (!isForThis) return header.kind === LINK_KIND.ask && header.receiverSession !== 0 ? 'over' : 'dropped';
    if (header.kind === LINK_KIND.answer) this.#unanswered = 0;
    if (header.kind === LINK_KIND.frames) {
      if (header.number !== (this.#receivedNumber + 1) >>> 0) return 'over';
      this.#receivedNumber = header.number;
      this.#receivedBytes = (this.#receivedBytes + bytes) >>> 0;
    } else if (isAfter(header.number, this.#owedNumber)) this.#owedNumber = header.number;
    this.#readBytes = header.receivedBytes;
    return 'taken';
  }

  /** To be called once a second, before the next ask is sent. Returns why the session is over. */
  tick(nowMs: number, hasWaiting: boolean): LinkEnd | undefined {
    if (!this.#isUp) return undefined;
    if (this.#unanswered >= ASKS_UNANSWERED_MAX) return 'it did not answer';
    if (isAfter(this.#owedNumber, this.#receivedNumber)) return 'a message was lost';
    if (!hasWaiting) this.#fullSinceMs = undefined;
    else this.#fullSinceMs ??= nowMs;
    if (nowMs - (this.#fullSinceMs ?? nowMs) >= WITHOUT_ROOM_MS_MAX) return 'it does not read';
    this.#unanswered++;
    return undefined;
  }

  /** What waited was sent: the time without room begins again. */
  moved(): void {
    this.#fullSinceMs = undefined;
  }

  end(): void {
    this.#ownId = this.#newId();
    this.#peerId = 0;
    this.#isUp = false;
  }

  get #inTransit(): number {
    return (this.#sentBytes - this.#readBytes) >>> 0;
  }

  #begin(peerId: number): void {
    this.#peerId = peerId;
    this.#isUp = true;
    this.#sentNumber = 0;
    this.#sentBytes = 0;
    this.#readBytes = 0;
    this.#receivedNumber = 0;
    this.#receivedBytes = 0;
    this.#reportedBytes = 0;
    this.#owedNumber = 0;
    this.#unanswered = 0;
    this.#fullSinceMs = undefined;
  }
}

type HeaderField = Exclude<keyof LinkHeader, 'flags' | 'callsInFlight'>;

/** Numbers wrap around after 2^32. */
function isAfter(number: number, other: number): boolean {
  const ahead = (number - other) >>> 0;
  return ahead !== 0 && ahead < 2 ** 31;
}
