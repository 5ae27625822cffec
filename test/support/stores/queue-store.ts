// The queue commands on a store in memory, with a clock that the test moves.

import type {
  AdvanceAnswer,
  AdvanceInput,
  ClaimedJob,
  EnqueueAnswer,
  EnqueueRules,
  NewJob,
  QueueStats,
} from '../../../src/core/queue/shapes.ts';
import { isStoreHead } from '../../../src/generated/queue-shapes.ts';
import { decodeAdvanced, decodeAnswers, encodeEnqueue, encodeStep } from '../../../src/store/commands/queue/codecs.ts';
import { encodeFramed, parseAs, toJson } from '../../../src/store/commands/queue/encoding.ts';
import { jobKey, rangeOf, storeHeadKey } from '../../../src/store/commands/queue/keys.ts';
import { readReceipt } from '../../../src/store/commands/queue/receipt.ts';
import { BufferedKv } from '../../../src/store/kv/buffered-kv.ts';
import { keysBelow, SPACE } from '../../../src/store/kv/keys.ts';
import type { Kv, KvEntry, RangeOptions } from '../../../src/store/kv/kv.ts';
import { MemoryStore } from '../../../src/store/kv/kv-memory.ts';
import { DamagedRecord } from '../../../src/store/kv/record.ts';
import { COMMANDS } from '../../../src/store/thread/commands.ts';
import { STORE_LIMITS } from '../../../src/store/thread/contract.ts';

const RULES = { maxJobs: 1_000_000, maxDeadLetters: 100_000, unroutableTtlMs: 86_400_000 };

export class QueueStore {
  nowMs = 1_000_000;
  /** The distance of the monotonic clock to the wall clock: until `setWallClock` both run together. */
  #behindMs = 0;
  #runs = 1;
  /** Damaged records that commands have skipped. */
  damagedRecords = 0;
  readonly #store = new MemoryStore();
  readonly #damaged = new DamagedKeys();
  readonly #queue: string;
  readonly #rules: EnqueueRules;

  constructor(queue = 'q', rules: Partial<EnqueueRules> = {}) {
    this.#queue = queue;
    this.#rules = { ...RULES, ...rules };
  }

  /** Sets the wall clock, forward or back; no time passes. */
  setWallClock(byMs: number): void {
    this.nowMs += byMs;
    this.#behindMs += byMs;
  }

  /** Another run of an engine on the same store. The monotonic clock starts at another time. */
  restart(): void {
    this.#runs++;
    this.#behindMs = this.nowMs;
  }

  /** The number of records of any kind. */
  get recordCount(): number {
    return this.#store.read((kv) => [...kv.range(Buffer.of(0), Buffer.of(255))].length);
  }

  /** Makes the n-th record of that kind (`keys.ts`) fail its checksum. */
  damage(kind: RecordKind, nth = 0): void {
    this.#damaged.add(this.#keyOf(kind, nth));
  }

  /** Changes the last byte of its key, so that it refers to another record. */
  misplace(kind: RecordKind, nth = 0): void {
    const key = this.#keyOf(kind, nth);
    this.#store.write((kv) => {
      const value = Buffer.from(kv.get(key) ?? '');
      kv.remove(key);
      const other = Buffer.from(key);
      other[other.length - 1] = 99;
      kv.put(other, value);
    });
  }

  #keyOf(kind: RecordKind, nth: number): Buffer {
    const { start, end } = rangeOf(kind, 1);
    const key = this.#store.read((kv) => [...kv.range(start, end)][nth]?.key);
    if (key === undefined) throw new Error(`There is no record ${nth} of the kind ${kind}`);
    return Buffer.from(key);
  }

  /** Whether every damaged record was set aside, under the key that it had. */
  get hasSetAside(): boolean {
    const { start, end } = keysBelow(SPACE.setAside);
    const records = this.#store.read((kv) => [...kv.range(start, end)].map(({ value }) => Buffer.from(value)));
    return this.#damaged.all.every((key) => records.some((record) => record.includes(key)));
  }

  /** Whether one lies where it lay, which the next start would refuse. */
  get hasDamaged(): boolean {
    return this.#store.read((kv) => this.#damaged.all.some((key) => kv.get(key) !== undefined));
  }

  /** The answer for one job. */
  enqueue(payload: unknown, options: Partial<NewJob> = {}): EnqueueAnswer {
    const bytes = Buffer.from(JSON.stringify(payload));
    const job = { facts: { functionId: 'f' }, at: 0, bytes: bytes.length, ...options };
    const input = { groups: [{ queue: this.#queue, rules: this.#rules, jobs: [job] }], isAllOrNone: false };
    const [answer] = decodeAnswers(this.#run('queue::enqueue', encodeEnqueue(input, bytes)));
    if (answer === undefined) throw new Error('There is no answer');
    return answer;
  }

  /** Jobs of one turn, which lie in one block; their receipts. */
  receipts(...payloads: readonly unknown[]): string[] {
    const texts = payloads.map((payload) => Buffer.from(JSON.stringify(payload)));
    let at = 0;
    const jobs = texts.map(({ length }): NewJob => {
      at += length;
      return { facts: { functionId: 'f' }, at: at - length, bytes: length };
    });
    const input = { groups: [{ queue: this.#queue, rules: this.#rules, jobs }], isAllOrNone: false };
    return decodeAnswers(this.#run('queue::enqueue', encodeEnqueue(input, ...texts))).map((answer) => {
      if ('reason' in answer) throw new Error(answer.message);
      return answer.id;
    });
  }

  receipt(payload: unknown, options: Partial<NewJob> = {}): string {
    const answer = this.enqueue(payload, options);
    if ('reason' in answer) throw new Error(answer.message);
    return answer.id;
  }

  advance(step: Partial<AdvanceInput>): AdvanceAnswer & { payloads: unknown[] } {
    const all = { queue: this.#queue, settled: [], claim: 0, deliveriesMax: 100, unroutableTtlMs: 86_400_000, ...step };
    const answer = decodeAdvanced(this.#run('queue::advance', encodeStep(all)));
    const jobs = answer.jobs.map(({ payload: _payload, ...job }) => job);
    return { ...answer, jobs, payloads: answer.jobs.map(({ payload }) => JSON.parse(payload.toString('utf8'))) };
  }

  claim(count = 1): ClaimedJob[] {
    return this.advance({ claim: count }).jobs;
  }

  /** Settles one claimed job. */
  settle({ seq, token }: ClaimedJob, how: AdvanceInput['settled'][number]['how'], more: object = {}): AdvanceAnswer {
    return this.advance({ settled: [{ seq, token, how, ...more }] });
  }

  stats(): QueueStats {
    const all: QueueStats[] = this.ask('queue::stats', {});
    const found = all.find(({ queue }) => queue === this.#queue);
    if (found === undefined) throw new Error('There is no such queue');
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects.
  ask(command: string, input: object = {}): any {
    const result = this.#run(command, Buffer.from(JSON.stringify({ queue: this.#queue, ...input })));
    return result.length === 0 ? undefined : JSON.parse(result.toString());
  }

  /** Brings the queues to the present form; in how many steps. */
  migrate(): number {
    let from = { queue: 1, seq: 0, hasMore: true };
    let steps = 0;
    for (; from.hasMore; steps++) {
      const { queue, seq } = from;
      from = JSON.parse(this.#run('queue::migrate', Buffer.from(JSON.stringify({ queue, seq }))).toString());
    }
    return steps;
  }

  /** Fresh jobs as the first form had them: a record each, a byte in front of their facts, and no number of the form. */
  asFormOne(payloads: readonly unknown[]): void {
    const receipts = payloads.map((payload) => this.receipt(payload));
    this.#store.write((kv) => {
      for (const { key } of [...kv.range(rangeOf('B', 1).start, rangeOf('B', 1).end)]) kv.remove(key);
      receipts.forEach((receipt, index) => {
        const facts = Buffer.from('{"functionId":"f"}');
        const head = Buffer.alloc(13);
        head.writeDoubleLE(this.nowMs, 0);
        head.writeUInt32LE(facts.length, 9);
        const seq = readReceipt(receipt)?.seq ?? 0;
        kv.put(jobKey(1, seq), Buffer.concat([head, facts, toJson(payloads[index])]));
      });
    });
    this.setFormat(undefined);
  }

  setFormat(format: number | undefined): void {
    this.#store.write((kv) => {
      const head = parseAs(kv.get(storeHeadKey()) ?? toJson({}), isStoreHead);
      kv.put(storeHeadKey(), toJson({ ...head, format }));
    });
  }

  move(how: 'redrive' | 'discard', input: object = {}, payload = ''): { moved: number; hasMore: boolean } {
    const bytes = encodeFramed({ queue: this.#queue, how, ...input }, Buffer.from(payload));
    return JSON.parse(this.#run('queue::dead_moves', bytes).toString());
  }

  #run(command: string, bytes: Buffer): Buffer {
    const found = COMMANDS.find(({ name }) => name === command);
    if (found === undefined) throw new Error(`There is no command ${command}`);
    const clocks = { nowMs: this.nowMs, monotonicMs: this.nowMs - this.#behindMs, run: `run ${this.#runs}` };
    const world = { ...clocks, epoch: 'e', isDropIn: false, limits: STORE_LIMITS, wantsEvents: false };
    const {
      result,
      error,
      damagedRecords = 0,
    } = this.#store.write((kv) => {
      const buffered = new BufferedKv(this.#damaged.over(kv));
      const reply = found.run(buffered, bytes, world);
      buffered.apply();
      return reply;
    });
    if (error !== undefined) throw new Error(error.message);
    this.damagedRecords += damagedRecords;
    return Buffer.from(result ?? Buffer.alloc(0));
  }
}

type RecordKind = Parameters<typeof rangeOf>[0];

/** A map some of whose records fail their checksum, as those of a damaged store do, until others are in their place. */
class DamagedKeys {
  readonly all: Buffer[] = [];
  readonly #texts = new Set<string>();

  add(key: Uint8Array): void {
    this.all.push(Buffer.from(key));
    this.#texts.add(textOf(key));
  }

  over(kv: Kv): Kv {
    const check = (key: Uint8Array): void => {
      if (this.#texts.has(textOf(key))) throw new DamagedRecord('fails its checksum', key);
    };
    return {
      get(key) {
        check(key);
        return kv.get(key);
      },
      raw: (key) => kv.raw(key),
      *range(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<KvEntry> {
        for (const entry of kv.range(start, end, options)) {
          check(entry.key);
          yield entry;
        }
      },
      keys: (...range) => kv.keys(...range),
      put: (key, value) => {
        this.#texts.delete(textOf(key));
        kv.put(key, value);
      },
      remove: (key) => {
        this.#texts.delete(textOf(key));
        return kv.remove(key);
      },
    };
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex');
}
