// The jobs of one queue that wait in the order in which they came, or run for the first time. They lie in blocks,
// without state records. A job leaves its block when it is done, or when it gets records of its own (`transitions.ts`).
//
// Invariants:
//   - A job in a block runs if it lies before the head's cursor, and is fresh after it.
//   - A block has a state from the first claim of one of its jobs. Both are removed with the last job.
//   - `close` writes the changes of a command. Nothing else in the command reads blocks before that.
//   - A damaged block is set aside. Its fresh jobs no longer count, and its running jobs can still be done.

import type { QueueHead } from '../../../core/queue/records.ts';
import type { Kv } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';
import { BLOCK_JOBS_MAX, BlockState, encodeBlock, JobBlock, type JobBytes, type JobRecord } from './job-records.ts';
import { blockKey, blockStateKey, blocksFrom, intactEntries, rangeOf, seqOf } from './keys.ts';

/** A record that is read to claim a single job must not be large. */
const BLOCK_BYTES_MAX = 16 * 1024;

export class FreshLine {
  /** The number of damaged records, and of jobs that were fresh in them. */
  damaged = 0;
  lost = 0;
  readonly #kv: Kv;
  readonly #number: number;
  readonly #head: QueueHead;
  readonly #states = new Map<number, BlockState>();
  readonly #changed = new Set<BlockState>();
  #block: JobBlock | undefined;
  /** Keys of damaged records, by their bytes as text. */
  readonly #aside = new Map<string, Uint8Array>();
  #added: { first: number; atMs: number; jobs: JobBytes[]; bytes: number } | undefined;

  constructor(kv: Kv, number: number, head: QueueHead) {
    this.#kv = kv;
    this.#number = number;
    this.#head = head;
  }

  /** Appends a job. Its parts must not change before `close`. */
  add(seq: number, atMs: number, job: JobBytes): void {
    this.#head.fresh++;
    const bytes = job.facts.length + job.payload.length;
    const added = this.#added;
    const isNext = added !== undefined && added.first + added.jobs.length === seq && added.atMs === atMs;
    if (isNext && added.jobs.length < BLOCK_JOBS_MAX && added.bytes + bytes <= BLOCK_BYTES_MAX) {
      added.jobs.push(job);
      added.bytes += bytes;
      return;
    }
    this.#writeAdded();
    this.#added = { first: seq, atMs, jobs: [job], bytes };
  }

  /** Takes the next fresh jobs in order until `run` returns that it has enough. */
  take(run: (seq: number, job: JobRecord) => boolean): void {
    const head = this.#head;
    const { start, end } = blocksFrom(this.#number, head.block ?? 0);
    for (const { key, value } of intactEntries(this.#kv, start, end, (key) => this.#meet(seqOf(key)))) {
      const block = new JobBlock(seqOf(key), value);
      const last = block.first + block.count - 1;
      head.block = block.first;
      if (last < head.cursor) continue;
      if (head.cursor <= block.first) this.#change(this.#stateOf(block));
      for (let seq = Math.max(head.cursor, block.first); seq <= last; seq++) {
        head.fresh--;
        head.running++;
        head.cursor = seq + 1;
        if (!run(seq, block.job(seq))) return;
      }
    }
    // No block follows: the remaining count was in unreadable blocks.
    this.#lose(head.fresh);
  }

  #meet(first: number): void {
    this.damaged++;
    this.#passOver(first);
  }

  /** Sets aside the block of a running job that cannot be read. */
  setAside(seq: number): void {
    const state = this.#find(seq);
    if (state !== undefined) this.#passOver(state.first);
  }

  #passOver(first: number): void {
    const head = this.#head;
    this.#putAside(blockKey(this.#number, first));
    const state = this.#stateAt(first);
    const end = first + (state?.count ?? 1);
    if (state !== undefined) {
      for (let seq = Math.max(head.cursor, first); seq < end; seq++) {
        state.leave(seq);
        this.#lose(1);
      }
      this.#change(state);
    }
    head.cursor = Math.max(head.cursor, end);
    head.block = Math.max(head.block ?? 0, end);
  }

  #lose(jobs: number): void {
    this.#head.fresh -= jobs;
    this.lost += jobs;
  }

  /** Whether the job runs for the first time. */
  runs(seq: number): boolean {
    return seq < this.#head.cursor && this.#find(seq) !== undefined;
  }

  /** A job that runs for the first time leaves its block. */
  leave(seq: number): void {
    const state = this.#find(seq);
    if (state === undefined) throw new Error('A job is in no block');
    state.leave(seq);
    this.#change(state);
    this.#head.running--;
  }

  /** A job of a block, running or fresh. */
  read(seq: number): JobRecord | undefined {
    if (this.#find(seq) === undefined && seq < this.#head.cursor) return undefined;
    const block = this.#blockAt(seq);
    return block === undefined ? undefined : block.job(seq);
  }

  /** Jobs that run for the first time, in their order. */
  running(limit: number): number[] {
    const found: number[] = [];
    const { start, end } = rangeOf('K', this.#number);
    for (const { key, value } of intactEntries(this.#kv, start, end, (key) => this.#noteDamage(key))) {
      const state = new BlockState(seqOf(key), value);
      for (let seq = state.first; seq < state.first + state.count && seq < this.#head.cursor; seq++) {
        if (!state.holds(seq)) continue;
        found.push(seq);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** Jobs in blocks from that number on, including running ones. */
  jobsFrom(from: number, limit: number): number[] {
    const found: number[] = [];
    const { start, end } = blocksFrom(this.#number, this.#firstOf(from));
    for (const { key, value } of intactEntries(this.#kv, start, end, () => this.damaged++)) {
      const block = new JobBlock(seqOf(key), value);
      for (let seq = Math.max(from, block.first); seq < block.first + block.count; seq++) {
        if (seq < this.#head.cursor && this.#find(seq) === undefined) continue;
        found.push(seq);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** `setAside` moves a damaged record out of the way. */
  close(setAside: (key: Uint8Array) => void): void {
    this.#writeAdded();
    for (const state of this.#changed) {
      if (state.isEmpty) {
        this.#kv.remove(blockStateKey(this.#number, state.first));
        const at = blockKey(this.#number, state.first);
        if (!this.#aside.has(textOf(at)) && this.#ifIntact(() => this.#kv.get(at)) !== undefined) this.#kv.remove(at);
      } else {
        this.#kv.put(blockStateKey(this.#number, state.first), state.bytes);
      }
    }
    this.#changed.clear();
    for (const key of this.#aside.values()) setAside(key);
    this.#aside.clear();
  }

  #putAside(key: Buffer): void {
    this.#aside.set(textOf(key), key);
  }

  #noteDamage(key: Uint8Array): void {
    this.damaged++;
    this.#putAside(Buffer.from(key));
  }

  #writeAdded(): void {
    if (this.#added === undefined) return;
    const { first, atMs, jobs } = this.#added;
    this.#added = undefined;
    this.#kv.put(blockKey(this.#number, first), encodeBlock(atMs, jobs));
  }

  #change(state: BlockState): void {
    this.#changed.add(state);
  }

  #stateOf(block: JobBlock): BlockState {
    const state = BlockState.fresh(block);
    this.#states.set(state.first, state);
    return state;
  }

  /** The state of the block that holds the job, if one of its jobs has been claimed. */
  #find(seq: number): BlockState | undefined {
    for (const state of this.#states.values()) if (state.holds(seq)) return state;
    const { start } = rangeOf('K', this.#number);
    const upTo = blockStateKey(this.#number, seq + 1);
    const found = this.#ifIntact(() => [...this.#kv.range(start, upTo, { limit: 1, isReverse: true })][0]);
    if (found === undefined) return undefined;
    const first = seqOf(found.key);
    if (this.#states.has(first)) return undefined;
    const state = new BlockState(first, found.value);
    this.#states.set(first, state);
    return state.holds(seq) ? state : undefined;
  }

  #stateAt(first: number): BlockState | undefined {
    const known = this.#states.get(first);
    if (known !== undefined) return known;
    const value = this.#ifIntact(() => this.#kv.get(blockStateKey(this.#number, first)));
    if (value === undefined) return undefined;
    const state = new BlockState(first, value);
    this.#states.set(first, state);
    return state;
  }

  /** The first number of the block that holds the job, or of the next block after it. */
  #firstOf(seq: number): number {
    return this.#ifIntact(() => this.#blockAt(seq))?.first ?? seq;
  }

  #ifIntact<T>(read: () => T | undefined): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      this.#noteDamage(error.key);
      return undefined;
    }
  }

  #blockAt(seq: number): JobBlock | undefined {
    const known = this.#block;
    if (known !== undefined && seq >= known.first && seq < known.first + known.count) return known;
    const { start } = rangeOf('B', this.#number);
    const [found] = this.#kv.range(start, blockKey(this.#number, seq + 1), { limit: 1, isReverse: true });
    if (found === undefined) return undefined;
    const block = new JobBlock(seqOf(found.key), found.value);
    if (seq >= block.first + block.count) return undefined;
    this.#block = block;
    return block;
  }
}

function textOf(key: Buffer): string {
  return key.toString('latin1');
}
