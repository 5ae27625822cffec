// The store as its own thread runs it: batches in, answers out.
//
// It runs every command of a batch in one transaction, so that they share one sync (D2), and answers after it (D1).
// Invariants:
//   - Everything that changes the store is synchronous, so the thread can end between any two tasks.
//   - A command that throws changes nothing; the other commands of its batch run.
//   - The first commit that fails is the last one attempted: from then on every answer is that failure (D3).

import { Refusal } from '../../core/calls/refusal.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { BufferedKv } from '../kv/buffered-kv.ts';
import type { DiskSpace, SpaceLeft } from '../kv/disk-space.ts';
import { type Kv, type KvReader, type KvStore, StoreFull } from '../kv/kv.ts';
import { DamagedRecord } from '../kv/record.ts';
import { COMMANDS } from './commands.ts';
import type { LocalContext, StoreCommand, StoreLimits, StoreReply } from './contract.ts';
import { type BatchAnswer, BatchReader, encodeReplies } from './messages.ts';

export interface ThreadOptions {
  readonly epoch: string;
  /** The name of this run of the engine. */
  readonly run: string;
  readonly isDropIn: boolean;
  readonly limits: StoreLimits;
}

/**
 * The limit of the answers of one batch: a short command may have a long answer, and all of them are in memory at once.
 * It also limits what updates of large values write in one transaction.
 */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;
const TOO_MUCH: StoreReply = {
  error: {
    code: 'OVERLOADED',
    message: 'One batch of the store reads and writes more than fits in memory; repeat the command',
  },
};

export class StoreThread {
  readonly #store: KvStore;
  readonly #options: ThreadOptions;
  readonly #space: DiskSpace;
  #failure: string | undefined;
  #damagedRecords = 0;
  /** Of the batches that run. */
  #replyBytes = 0;

  constructor(store: KvStore, options: ThreadOptions, space: DiskSpace) {
    this.#store = store;
    this.#options = options;
    this.#space = space;
  }

  /** In one transaction, one after the other. */
  runBatches(blocks: readonly ArrayBuffer[]): BatchAnswer[] {
    if (this.#failure !== undefined) return this.#failed(blocks, this.#failure);
    const batches = blocks.map((block) => new BatchReader(block));
    this.#damagedRecords = 0;
    try {
      const [bytes, commands] = [sum(batches, ({ bytes }) => bytes), sum(batches, ({ count }) => count)];
      const { replies, isFull } = this.#runWithin(this.#space.left(bytes, commands), batches);
      return replies.map((own, batch) =>
        // Counted once, by whichever router has sent the first batch.
        encodeReplies(own, { isFull, damagedRecords: batch === 0 ? this.#damagedRecords : 0 }),
      );
    } catch (error) {
      this.#failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return this.#failed(blocks, this.#failure);
    }
  }

  #failed(blocks: readonly ArrayBuffer[], failure: string): BatchAnswer[] {
    return blocks.map(() => ({ failure }));
  }

  /** A transaction that found the store full was not made, and is run again with fewer commands (D6). */
  #runWithin(left: SpaceLeft, batches: readonly BatchReader[]): { replies: StoreReply[][]; isFull: boolean } {
    try {
      return { replies: this.#runAll(left, batches), isFull: left !== 'plenty' };
    } catch (error) {
      if (!(error instanceof StoreFull) || left === 'none') throw error;
      for (const batch of batches) batch.rewind();
      return this.#runWithin(left === 'plenty' ? 'reserve' : 'none', batches);
    }
  }

  #runAll(left: SpaceLeft, batches: readonly BatchReader[]): StoreReply[][] {
    this.#replyBytes = 0;
    const runEach = (kv: Kv): StoreReply[][] => batches.map((batch) => this.#runEach(left, batch, kv));
    if (!batches.some(hasWrites)) return this.#store.read((kv) => runEach(readOnly(kv)));
    return this.#store.write(runEach);
  }

  #runEach(left: SpaceLeft, batch: BatchReader, kv: Kv): StoreReply[] {
    const replies: StoreReply[] = [];
    const buffered = new BufferedKv(kv);
    const context: { -readonly [K in keyof LocalContext]: LocalContext[K] } = {
      ...this.#options,
      nowMs: batch.nowMs,
      monotonicMs: batch.monotonicMs,
      wantsEvents: false,
    };
    for (let index = 0; index < batch.count; index++) {
      batch.next();
      const command = COMMANDS[batch.command];
      if (command === undefined) throw new Error(`A batch names command ${batch.command}, which does not exist`);
      context.wantsEvents = batch.wantsEvents;
      context.trace = batch.trace;
      const isOver = this.#replyBytes > REPLY_BYTES_MAX && command.usesReserve !== true;
      const reply = isOver ? TOO_MUCH : this.#runOne(command, left, buffered, batch.input, context);
      this.#replyBytes += bytesIn(reply);
      replies.push(reply);
    }
    return replies;
  }

  #runOne(command: StoreCommand, left: SpaceLeft, kv: BufferedKv, input: Buffer, context: LocalContext): StoreReply {
    let reply: StoreReply;
    try {
      if (command.isWrite) refuseWithoutSpace(command, left);
      reply = command.run(kv, input, context);
    } catch (error) {
      kv.discard();
      return { error: this.#errorOf(command, error) };
    }
    kv.apply();
    this.#damagedRecords += reply.damagedRecords ?? 0;
    return reply;
  }

  /** Any error but a refusal or a damaged record affects more than this command: it ends the transaction. */
  #errorOf({ name }: StoreCommand, error: unknown): ErrorBody {
    if (error instanceof Refusal) return error.toBody();
    if (!(error instanceof DamagedRecord)) throw error;
    this.#damagedRecords++;
    const text = `${name} found a damaged record and did not change it. ${error.message}`;
    return { code: 'STORAGE_CORRUPT', message: text };
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function bytesIn({ result, events = [] }: StoreReply): number {
  return events.reduce((sum, { body }) => sum + body.length, result?.length ?? 0);
}

function refuseWithoutSpace({ usesReserve = false }: StoreCommand, left: SpaceLeft): void {
  if (left === 'plenty' || (left === 'reserve' && usesReserve)) return;
  const still = left === 'reserve' ? '; deleting still works' : '';
  throw new Refusal('STORAGE_FULL', `The disk of the store is nearly full: writes that need space are refused${still}`);
}

function hasWrites(batch: BatchReader): boolean {
  let found = false;
  for (let index = 0; index < batch.count && !found; index++) {
    batch.next();
    found = COMMANDS[batch.command]?.isWrite ?? false;
  }
  batch.rewind();
  return found;
}

function readOnly(kv: KvReader): Kv {
  const refuse = (): never => {
    throw new Error('A command that only reads tried to write');
  };
  return {
    get: (key) => kv.get(key),
    raw: (key) => kv.raw(key),
    range: (...range) => kv.range(...range),
    keys: (...range) => kv.keys(...range),
    put: refuse,
    remove: refuse,
  };
}
