// A store as the modules on the router's thread see it; the store's own thread does the work (`thread.ts`).
//
// The commands of a turn leave together at its end, after the frames of the same turn. The first thread that is woken
// gets the processor, and workers have something to do while the store's thread works (1.1 to 1.3 times as many gets a
// second). While batches are away the next one gathers. So the busier the store, the more commands share a sync,
// without a timer (D2).
//
// Invariants:
//   - Every `done` is called exactly once, in the order of the commands, and never within `run`.
//   - After the first failure nothing is sent any more: every waiting and later command is answered with it (D3).
//   - The memory of answers that no caller may hold is freed at once: it counts as memory outside V8's heap, and enough
//     of it makes V8 collect the whole heap of the router.

import type { Counters } from '../../core/registry/counters.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { OwnThread } from '../../effects/threads/pool.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { SpaceLeft } from '../kv/disk-space.ts';
import { commandNumber } from './commands.ts';
import { OVERLOADED, type RunOptions, type Store, type StoreReply, Waiting } from './contract.ts';
import {
  BATCH_HEADER_BYTES,
  BatchWriter,
  commandBytes,
  ReplyReader,
  type StoreAnswer,
  type StoreTask,
} from './messages.ts';

export type StoreWorker = OwnThread<StoreTask, StoreAnswer>;

export interface ClientOptions {
  /** For log lines and health: the folder, or `MEMORY`. */
  readonly name: string;
  readonly worker: StoreWorker;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  /** The store failed for good. Called once. */
  readonly onFailure: (reason: string) => void;
}

/** The name of the store that is lost when the engine ends. */
export const MEMORY = 'memory';

type Done = (reply: StoreReply) => void;

interface Batch {
  readonly block: ArrayBuffer;
  /** Of its commands. */
  readonly bytes: number;
  readonly waiting: readonly Done[];
  readonly callers: number;
  /** A caller may hold views of its answers after `done` returns. */
  readonly isHeld: boolean;
}

/** Two: the thread finds the next batch as soon as it has answered one. More only make batches smaller. */
const BATCHES_AWAY_MAX = 2;
/** Fewer do not justify a sync of their own. */
const BATCH_CALLERS_MIN = 32;
/** A share of all that waits: almost the half that a batch holds when callers and thread work in parallel. */
const WORTH_SENDING_SHARE = 0.4;
/** One transaction must not delay the others for long. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
const BATCH_COMMANDS_MAX = 4_096;

export class StoreClient implements Store {
  readonly #options: ClientOptions;
  #gathering = new BatchWriter();
  #gatheringFor: Done[] = [];
  #gatheringCallers = 0;
  #isGatheringHeld = false;
  readonly #ready: Batch[] = [];
  #batchesAway = 0;
  /** All commands that are neither answered nor refused. */
  readonly #waiting = new Waiting();
  /** Callers of all of these. */
  #callersWaiting = 0;
  #isFlushDue = false;
  #failure: string | undefined;
  #space: SpaceLeft = 'plenty';
  #whenIdle: (() => void) | undefined;

  constructor(parts: ClientOptions) {
    this.#options = parts;
  }

  get trouble(): string | undefined {
    if (this.#failure !== undefined) return 'the store failed';
    return this.#space === 'plenty' ? undefined : 'the disk is nearly full: writes that need space are refused';
  }

  get details(): Readonly<Record<string, string>> {
    const { name } = this.#options;
    return name === MEMORY ? { store_method: 'in_memory' } : { store_method: 'file_based', file_path: name };
  }

  get waitingCommands(): number {
    return this.#waiting.commands;
  }

  run(command: string, input: Uint8Array, done: Done, options: RunOptions = {}): void {
    const { wantsEvents = true, trace, callers = 1 } = options;
    if (this.#failure !== undefined) return this.#refuseLater(done, UNAVAILABLE);
    const number = commandNumber(command);
    const traceBytes = trace === undefined ? undefined : Buffer.from(trace);
    if (!this.#waiting.enter(commandBytes(input, traceBytes))) {
      this.#options.counters.count('store.refused', 'overloaded');
      return this.#refuseLater(done, OVERLOADED);
    }
    this.#gathering.add(number, wantsEvents, input, traceBytes);
    this.#gatheringFor.push(done);
    this.#gatheringCallers += callers;
    this.#callersWaiting += callers;
    if (wantsEvents) this.#isGatheringHeld = true;
    if (this.#isBatchFull()) this.#closeBatch();
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const { clock } = this.#options;
    // Frames leave after this turn, and commands after the next one.
    clock.afterTurn(() => clock.afterTurn(() => this.#flush()));
  }

  #flush(): void {
    this.#isFlushDue = false;
    this.#send();
  }

  /** A store of this machine has one engine. */
  watch(): () => void {
    return () => {};
  }

  /** Notes the free space of the disk that was just measured. */
  noteSpace(left: SpaceLeft): void {
    if (left === this.#space) return;
    const { logger, name } = this.#options;
    if (left === 'plenty') logger.info('The disk of a store has room again', { store: name });
    else logger.error('The disk of a store is nearly full: writes are refused', { store: name, left });
    this.#space = left;
  }

  /** Answers every waiting and later command with STORAGE_UNAVAILABLE. */
  fail(reason: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    const { logger, name, onFailure } = this.#options;
    logger.error('A store failed: the engine ends, as nothing may be acknowledged any more', { store: name, reason });
    this.#closeBatch();
    for (const batch of this.#ready.splice(0)) this.#answerAll(batch, UNAVAILABLE);
    onFailure(reason);
  }

  /** Resolves when no command waits any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
      this.#notifyIfIdle();
    });
  }

  /**
   * Half of all waiting callers are enough: otherwise callers that wait for answers would move from stage to stage as
   * one batch, and they and the thread would idle in turns (1.3 times as many gets a second with 256 of them, 1.4 times
   * as many jobs with 64).
   */
  #isBatchFull(): boolean {
    const { count, bytes } = this.#gathering;
    const callers = this.#gatheringCallers;
    const isShare = callers >= BATCH_CALLERS_MIN && 2 * callers >= this.#callersWaiting;
    return isShare || count >= BATCH_COMMANDS_MAX || bytes >= BATCH_BYTES_MAX;
  }

  /** Sends before the thread needs it: a few early commands would have a sync of their own. */
  #isWorthSending(): boolean {
    return this.#gatheringCallers >= WORTH_SENDING_SHARE * this.#callersWaiting;
  }

  #closeBatch(): void {
    if (this.#gathering.count === 0) return;
    const bytes = this.#gathering.bytes - BATCH_HEADER_BYTES;
    const { clock } = this.#options;
    const block = this.#gathering.take({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
    const [waiting, callers] = [this.#gatheringFor, this.#gatheringCallers];
    this.#ready.push({ block, bytes, waiting, callers, isHeld: this.#isGatheringHeld });
    this.#gatheringFor = [];
    this.#gatheringCallers = 0;
    this.#isGatheringHeld = false;
  }

  #send(): void {
    while (this.#batchesAway < BATCHES_AWAY_MAX) {
      if (this.#ready.length === 0 && (this.#batchesAway === 0 || this.#isWorthSending())) this.#closeBatch();
      const batch = this.#ready.shift();
      if (batch === undefined) return;
      this.#batchesAway++;
      const { worker } = this.#options;
      worker.run({ kind: 'batch', batch: batch.block }, [batch.block]).then(
        (answer) => this.#receive(batch, answer),
        (error: unknown) => this.#receive(batch, { failure: `its thread ended: ${String(error)}` }),
      );
    }
  }

  #receive(batch: Batch, answer: StoreAnswer): void {
    this.#batchesAway--;
    this.#callersWaiting -= batch.callers;
    if (answer instanceof ArrayBuffer) {
      this.#waiting.leave(batch.waiting.length, batch.bytes);
      // Before the answers are delivered: the thread may have nothing to do until the next batch comes.
      if (this.#failure === undefined) this.#send();
      this.#deliver(batch, new ReplyReader(answer));
      if (!batch.isHeld) giveBack(answer);
    } else {
      this.fail('failure' in answer ? answer.failure : 'its thread sent an unknown answer');
      this.#answerAll(batch, UNAVAILABLE);
    }
    this.#notifyIfIdle();
  }

  #deliver({ waiting }: Batch, replies: ReplyReader): void {
    const { damagedRecords, isFull } = replies.outcome;
    if (isFull) this.noteSpace('reserve');
    if (damagedRecords > 0) this.#noteDamage(damagedRecords);
    for (const done of waiting) this.#answer(done, replies.next());
  }

  #noteDamage(records: number): void {
    const { logger, counters, name } = this.#options;
    for (let record = 0; record < records; record++) counters.count('store.damaged_records');
    logger.error('Stored records fail their checksum and are not returned', { store: name, records });
  }

  #answerAll({ waiting, bytes }: Batch, error: ErrorBody): void {
    this.#waiting.leave(waiting.length, bytes);
    for (const done of waiting) this.#answer(done, { error });
  }

  /** A defect of one caller must not keep the others from their answers. */
  #answer(done: Done, reply: StoreReply): void {
    try {
      done(reply);
    } catch (error) {
      const stack = error instanceof Error ? error.stack : String(error);
      this.#options.logger.error('An answer of a store could not be handled', { error: stack });
    }
  }

  #refuseLater(done: Done, error: ErrorBody): void {
    this.#options.clock.afterTurn(() => done({ error }));
  }

  #notifyIfIdle(): void {
    if (this.#waiting.commands > 0) return;
    this.#whenIdle?.();
    this.#whenIdle = undefined;
  }
}

/** Node has `transfer` from 22 on. `svc-sdk/testing` runs this on 20 too, where the memory is freed by V8. */
function giveBack(memory: ArrayBuffer & { readonly transfer?: (bytes: number) => ArrayBuffer }): void {
  memory.transfer?.(0);
}

const UNAVAILABLE: ErrorBody = {
  code: 'STORAGE_UNAVAILABLE',
  message: 'The store failed and the engine is ending; whether a change in progress was made is unknown',
};
