import { describe, expect, test } from 'vitest';
import { type Call, CallTable, DEADLINE_STEP_MS } from '../../../../src/core/calls/call-table.ts';
import type { Executor } from '../../../../src/core/calls/select-worker.ts';
import { newExecutor } from '../../../support/engine/numbered-executor.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

const ID_MIDDLE = '1234-4abc-8def';
const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe('the id of a call', () => {
  test('[wire 2.1] It is a version 4 UUID, which Go and Rust clients require', () => {
    const table = newTable();
    const ids = Array.from({ length: 300 }, () => open(table).id);
    for (const id of ids) expect(id).toMatch(UUID_V4);
  });

  test('[I1] It is never reused, even when the slot of an ended call is', () => {
    const table = newTable();
    const executor = newExecutor(1);
    const ended = new Set<string>();
    for (let round = 0; round < 300; round++) {
      const call = open(table, { executor });
      ended.add(call.id);
      table.settle(call);
      expect([...ended].filter((id) => table.find(id, executor) !== undefined)).toEqual([]);
    }
    expect(ended.size).toBe(300);
  });

  test.each([
    ['empty', ''],
    ['not an id at all', 'hello'],
    ['a UUID from elsewhere', '00000000-9999-4999-8999-000000000000'],
    ['of a slot that was never used', `0000ffff-${ID_MIDDLE}-000000000000`],
    ['of a later use of the slot', `00000000-${ID_MIDDLE}-000000000001`],
    ['upper case', `00000000-${ID_MIDDLE.toUpperCase()}-000000000000`],
    ['spelled with a sign', `+0000000-${ID_MIDDLE}-000000000000`],
    ['spelled with a prefix', `0x000000-${ID_MIDDLE}-000000000000`],
    ['with text after it', `00000000-${ID_MIDDLE}-000000000000 `],
  ])('[I1] A result under an id that is %s finds nothing', (_case, id) => {
    const table = newTable();
    const executor = newExecutor(1);
    const call = open(table, { executor });
    expect(call.id).toBe(`00000000-${ID_MIDDLE}-000000000000`);
    expect(table.find(id, executor)).toBeUndefined();
  });

  test('[I1] Only the worker that was handed the call can use it', () => {
    const table = newTable();
    const call = open(table, { executor: newExecutor(1) });
    expect(table.find(call.id, newExecutor(1))).toBeUndefined();
    expect(table.find(call.id, executorOf(call))).toBe(call);
  });
});

describe('ending a call', () => {
  test('[I1] Ending it twice throws', () => {
    const table = newTable();
    const call = open(table);
    table.settle(call);
    expect(() => table.settle(call)).toThrow(`Call ${call.id} settled twice`);
  });

  test('[I6] A worker counts the call until it ends', () => {
    const table = newTable();
    const executor = newExecutor(1);
    const first = open(table, { executor });
    const second = open(table, { executor });
    expect([executor.inFlight, table.openCount]).toEqual([2, 2]);
    table.settle(first);
    table.settle(second);
    expect([executor.inFlight, table.openCount]).toEqual([0, 0]);
  });
});

describe('deadlines', () => {
  test('[I3] A call is due after its deadline, never before, and late by one step at most', () => {
    for (let startMs = 0; startMs < 2 * DEADLINE_STEP_MS; startMs += 3) {
      for (const timeoutMs of [1, 24, 25, 26, 99, 100, 101]) {
        const table = newTable();
        const call = open(table, { nowMs: startMs, timeoutMs });
        const deadlineMs = startMs + timeoutMs;
        expect(table.expired(deadlineMs)).toEqual([]);
        expect(table.expired(deadlineMs + DEADLINE_STEP_MS)).toEqual([call]);
      }
    }
  });

  test('[I3] A call that begins after a long idle time keeps its own deadline', () => {
    const table = newTable();
    table.settle(open(table, { nowMs: 0 }));
    const call = open(table, { nowMs: 86_400_000, timeoutMs: 1000 });
    expect(table.expired(86_401_000)).toEqual([]);
    expect(table.expired(86_401_000 + DEADLINE_STEP_MS)).toEqual([call]);
  });

  test('[I3] A call whose deadline passed while the engine was stopped is due at the next check', () => {
    const table = newTable();
    open(table, { nowMs: 0, timeoutMs: 3_600_000 });
    table.expired(10_000);
    const call = open(table, { nowMs: 9000, timeoutMs: 10 });
    expect(table.expired(10_000 + DEADLINE_STEP_MS)).toEqual([call]);
  });

  test('[I3] Any number of calls can be due at the same moment', () => {
    const table = newTable();
    const count = 200_000;
    for (let index = 0; index < count; index++) open(table, { timeoutMs: 1000 });
    expect(table.expired(2000)).toHaveLength(count);
  });
});

describe('events in random order', () => {
  test('[I1] Ids are unique, each call ends once, and deadlines are kept', () => {
    forEachSeed(30, (random) => new Model(random).run(300));
  });
});

/** Compares a table with a list of the calls that must be open. */
class Model {
  readonly #random: SeededRandom;
  readonly #table = newTable();
  readonly #executors = [newExecutor(1), newExecutor(2), newExecutor(3)];
  readonly #open = new Map<string, Call<Executor, string>>();
  readonly #ended: { id: string; executor: Executor }[] = [];
  #nowMs = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) {
      const dice = this.#random.below(10);
      if (dice < 5) this.#begin();
      else if (dice < 7) this.#finish();
      else if (dice < 9) this.#passTime();
      else this.#answerLate();
      this.#check();
    }
  }

  #begin(): void {
    const executor = this.#random.pick(this.#executors);
    const timeoutMs = this.#random.pick([1, 10, 25, 30, 100, 1000, 5000]);
    const call = open(this.#table, { executor, nowMs: this.#nowMs, timeoutMs });
    expect(this.#open.has(call.id) || this.#ended.some(({ id }) => id === call.id)).toBe(false);
    this.#open.set(call.id, call);
  }

  #finish(): void {
    const calls = [...this.#open.values()];
    if (calls.length === 0) return;
    const { id, executor } = this.#random.pick(calls);
    const another = this.#executors.find((other) => other !== executor);
    if (another !== undefined) expect(this.#table.find(id, another)).toBeUndefined();
    this.#end(id);
  }

  #passTime(): void {
    this.#nowMs += this.#random.between(0, 200);
    for (const call of this.#table.expired(this.#nowMs)) {
      expect(call.deadlineMs).toBeLessThan(this.#nowMs);
      this.#end(call.id);
    }
    const oldestMs = Math.min(...[...this.#open.values()].map((call) => call.deadlineMs));
    expect(oldestMs).toBeGreaterThanOrEqual(this.#nowMs - DEADLINE_STEP_MS);
  }

  #answerLate(): void {
    if (this.#ended.length === 0) return;
    const { id, executor } = this.#random.pick(this.#ended);
    expect(this.#table.find(id, executor)).toBeUndefined();
  }

  #end(id: string): void {
    const expected = this.#open.get(id);
    if (expected === undefined) throw new Error(`${id} ended and was not open`);
    const found = this.#table.find(id, executorOf(expected));
    expect(found).toBe(expected);
    this.#ended.push({ id, executor: executorOf(expected) });
    this.#open.delete(id);
    this.#table.settle(expected);
  }

  #check(): void {
    expect(this.#table.openCount).toBe(this.#open.size);
    expect(new Set(this.#table.allOpen().map(({ id }) => id))).toEqual(new Set(this.#open.keys()));
    for (const executor of this.#executors) {
      const own = [...this.#open.values()].filter((call) => call.executor === executor);
      expect(executor.inFlight).toBe(own.length);
    }
  }
}

function newTable(): CallTable<Executor, string> {
  return new CallTable<Executor, string>(ID_MIDDLE);
}

interface Opening {
  readonly executor?: Executor;
  readonly nowMs?: number;
  readonly timeoutMs?: number;
}

function open(
  table: CallTable<Executor, string>,
  { executor = newExecutor(9), nowMs = 0, timeoutMs = 30_000 }: Opening = {},
): Call<Executor, string> {
  return table.open({ functionId: 'math::add', executor, origin: 'caller', originRef: 'ref', nowMs, timeoutMs });
}

function executorOf({ executor, id }: { executor: Executor | undefined; id: string }): Executor {
  if (executor === undefined) throw new Error(`${id} is open and has no executor`);
  return executor;
}
