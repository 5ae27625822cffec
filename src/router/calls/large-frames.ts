// Large frames are checked on another thread, so that one worker's 16 MiB message (25 ms of scanning) does not delay
// the calls of all others (I7).
//
// Job: keep the order of each connection's frames while another thread has one of them.
// States of a connection: without an entry in `#queues`, its frames are handled at once. With one, a pool thread has a
// large frame, and every frame that arrives after it waits in the entry, as a copy, until the frame is back.
// Invariant:
//   - Memory is bounded: for what waits for one connection, and for all frames that are away or wait. A sender cannot
//     be paused, so over the bound the router scans the frame itself: that blocks the event loop, and with it the
//     sender, because TCP fills up.

import type { Pool } from '../../effects/threads/pool.ts';
import { type DecodeRefusal, decodeLocatedFrame, decodeWorkerFrame } from '../../protocol/frames/decode.ts';
import type { MemberRanges, ScanOffence } from '../../protocol/frames/envelope.ts';
import type { WorkerFrame } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { Session } from '../session/session.ts';

/** From this size on, the hop to another thread costs a small part of the time it saves (native-bench/scan-hop.ts). */
export const LARGE_FRAME_BYTES = 256 * 1024;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** Of all connections together, including frames that are away. */
const ALL_KEPT_BYTES_MAX = 256 * 1024 * 1024;
/** The approximate memory of a frame in addition to its bytes. For small frames it is most of it. */
const FRAME_OWN_BYTES = 256;

export type TakeFrame = (frame: WorkerFrame<RawJson> | DecodeRefusal, bytes: Uint8Array) => void;

interface Queue {
  /** The frame that is away, in shared memory. */
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

  /** Takes a frame that is large or follows a large one, and passes it on later. Otherwise the caller handles it. */
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
    // Not `slice`: for a Buffer that would be a view of memory that is reused.
    queue.waiting.push(new Uint8Array(bytes));
    queue.waitingBytes += kept(bytes);
    this.#keptBytes += kept(bytes);
    const isFull = queue.waitingBytes > WAITING_BYTES_MAX || this.#keptBytes > ALL_KEPT_BYTES_MAX;
    if (isFull) this.#catchUp(session, queue);
    return true;
  }

  #send(session: Session, queue: Queue): void {
    const { away } = queue;
    const arrived = (ranges: MemberRanges | ScanOffence | undefined): void => {
      // Skipped if the router caught up meanwhile and handled the frame itself.
      if (this.#queues.get(session) === queue && queue.away === away) this.#return(session, queue, ranges);
    };
    this.#pool.scanFrame(away.buffer).then(arrived, () => arrived(undefined));
  }

  /** `ranges` is missing when the thread failed: the frame is then checked here. */
  #return(session: Session, queue: Queue, ranges: MemberRanges | ScanOffence | undefined): void {
    const frame = ranges === undefined ? decodeWorkerFrame(queue.away) : decodeLocatedFrame(queue.away, ranges);
    this.#keptBytes -= kept(queue.away);
    queue.take(frame, queue.away);
    // Not removed one by one: removing the first of many moves all the others.
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
