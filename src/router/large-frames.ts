// Large frames are checked on another thread, so that one worker's 16 MiB message (25 ms of scanning) does not hold
// up the calls of all others (I7).
//
// Job: keep the order of each connection's frames while one of them is away (R1 of the router).
// States of a connection: without an entry in `#queues` its frames are handled at once; with one, a large frame is
// away and everything that arrives behind it waits in the entry, copied, until the frame is back.
// Invariant:
//   L1  What is kept is bounded: what waits for one connection, and all that is away or waits for any. A socket
//       cannot be told to stop sending, so beyond the bound the router does the work itself: that holds the event
//       loop, and with it the sender, as TCP fills up.

import type { Pool } from '../effects/pool.ts';
import type { RawJson } from '../protocol/byte-string.ts';
import { type DecodeRefusal, decodeLocatedFrame, decodeWorkerFrame } from '../protocol/decode.ts';
import type { MemberPlaces, ScanOffence } from '../protocol/envelope.ts';
import type { WorkerFrame } from '../protocol/frames.ts';
import type { Session } from './session.ts';

/** From here on the hop to another thread costs a small part of what it spares (native-bench/scan-hop.ts). */
export const LARGE_FRAME_BYTES = 256 * 1024;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** Of all connections together, with what is away. */
const ALL_KEPT_BYTES_MAX = 256 * 1024 * 1024;
/** What a frame takes beside its bytes, roughly: small ones are mostly that. */
const FRAME_OWN_BYTES = 256;

export type TakeFrame = (frame: WorkerFrame<RawJson> | DecodeRefusal, bytes: Uint8Array) => void;

interface Queue {
  /** The frame that is away, in memory that both threads can read. */
  away: Uint8Array;
  readonly waiting: Uint8Array[];
  waitingBytes: number;
  readonly take: TakeFrame;
}

export class LargeFrames {
  readonly #pool: Pool;
  readonly #queues = new Map<Session, Queue>();
  #keptBytes = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Takes the frame if it is large or behind a large one, and hands it on later; otherwise it is the caller's. */
  take(session: Session, bytes: Uint8Array, take: TakeFrame): boolean {
    const queue = this.#queues.get(session);
    if (queue === undefined) {
      if (bytes.length < LARGE_FRAME_BYTES || this.#keptBytes + kept(bytes) > ALL_KEPT_BYTES_MAX) return false;
      const started: Queue = { away: shared(bytes), waiting: [], waitingBytes: 0, take };
      this.#queues.set(session, started);
      this.#keptBytes += kept(bytes);
      this.#send(session, started);
      return true;
    }
    // Not `slice`: of a Buffer that would be a view of memory that is used again.
    queue.waiting.push(new Uint8Array(bytes));
    queue.waitingBytes += kept(bytes);
    this.#keptBytes += kept(bytes);
    const isFull = queue.waitingBytes > WAITING_BYTES_MAX || this.#keptBytes > ALL_KEPT_BYTES_MAX;
    if (isFull) this.#catchUp(session, queue);
    return true;
  }

  #send(session: Session, queue: Queue): void {
    const { away } = queue;
    const arrived = (places: MemberPlaces | ScanOffence | undefined): void => {
      // Not if the router caught up meanwhile and handled the frame itself.
      if (this.#queues.get(session) === queue && queue.away === away) this.#return(session, queue, places);
    };
    this.#pool.scanFrame(away.buffer).then(arrived, () => arrived(undefined));
  }

  /** `places` is missing when the thread failed: then the frame is checked here. */
  #return(session: Session, queue: Queue, places: MemberPlaces | ScanOffence | undefined): void {
    const frame = places === undefined ? decodeWorkerFrame(queue.away) : decodeLocatedFrame(queue.away, places);
    this.#keptBytes -= kept(queue.away);
    queue.take(frame, queue.away);
    // Not taken out one by one: of many, the first one's leaving moves all the others.
    for (const [at, next] of queue.waiting.entries()) {
      queue.waitingBytes -= kept(next);
      if (next.length >= LARGE_FRAME_BYTES) {
        queue.waiting.splice(0, at + 1);
        queue.away = shared(next);
        this.#send(session, queue);
        return;
      }
      this.#keptBytes -= kept(next);
      queue.take(decodeWorkerFrame(next), next);
    }
    this.#queues.delete(session);
  }

  #catchUp(session: Session, queue: Queue): void {
    this.#queues.delete(session);
    this.#keptBytes -= queue.waitingBytes + kept(queue.away);
    for (const bytes of [queue.away, ...queue.waiting]) queue.take(decodeWorkerFrame(bytes), bytes);
  }
}

function kept(bytes: Uint8Array): number {
  return bytes.length + FRAME_OWN_BYTES;
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
