import { expect, test } from 'vitest';
import { CallTable } from '../../../../src/core/calls/call-table.ts';
import type { Executor } from '../../../../src/core/calls/select-worker.ts';
import { WaitingCalls } from '../../../../src/core/calls/waiting-calls.ts';
import { ByteBudget } from '../../../../src/core/limits/byte-budget.ts';
import { ConnectionLimit } from '../../../../src/core/limits/connection-limits.ts';
import { ProcessCounts } from '../../../../src/core/limits/process-counts.ts';
import { UnreadAnswers } from '../../../../src/core/limits/unread-answers.ts';
import { ConcurrencyLimit } from '../../../../src/modules/http/requests/concurrency-limit.ts';

const KIB = 1024;

const ROUTERS = 3;

function countsOfRouters(): ProcessCounts[] {
  const first = ProcessCounts.ofRouters(ROUTERS, 7);
  return [first, ...[1, 2].map((router) => new ProcessCounts(first.shared, router))];
}

test('a router sees what all others have, without its own', () => {
  const [one, other, third] = countsOfRouters().map((counts) => counts.of('calls'));
  one?.note(5);
  other?.note(7);
  third?.note(1);
  expect([one?.elsewhere, other?.elsewhere, third?.elsewhere]).toEqual([8, 6, 12]);
  other?.note(0);
  expect(one?.elsewhere).toBe(1);
});

test('kinds and ports are counted apart', () => {
  const [one, other] = countsOfRouters();
  one?.of('calls').note(3);
  const ports = [one?.ofNextPort(), one?.ofNextPort()];
  ports[1]?.open.note(4);
  expect(other?.of('http connections').elsewhere).toBe(0);
  expect([other?.ofNextPort()?.open.elsewhere, other?.ofNextPort()?.open.elsewhere]).toEqual([0, 4]);
});

test('a port has one number on all routers, also after the first one failed to open another', () => {
  const [one, other] = countsOfRouters();
  one?.ofNextPort();
  other?.ofNextPort();
  one?.ofNextPort();
  const port = one?.ofNextPort();
  other?.continuePortsAt((one?.portCount ?? 0) - 1);
  port?.open.note(4);
  expect(other?.ofNextPort()?.open.elsewhere).toBe(4);
});

test('a router knows whether another one has more', () => {
  const [one, other] = countsOfRouters().map((counts) => counts.bytesOf('most unread of a connection'));
  expect(one?.isMost(3 * KIB)).toBe(true);
  expect(other?.isMost(2 * KIB)).toBe(false);
  expect(other?.isMost(4 * KIB)).toBe(true);
  expect(one?.isMost(3 * KIB)).toBe(false);
});

test('one router counts for itself', () => {
  const calls = ProcessCounts.ofRouters(1, 7).of('calls');
  calls.note(3);
  expect(calls.elsewhere).toBe(0);
});

test('a port is full when the routers together have as many connections as it may have', () => {
  const limits = { connectionsMax: 4, connectionsPerSecondMax: 100 };
  const [one, other] = countsOfRouters().map((counts) => new ConnectionLimit(limits, () => true, counts.ofNextPort()));
  const verdicts = [one, other, one, other, one, other].map((limit) => limit?.enter(0));
  expect(verdicts).toEqual(['open', 'open', 'open', 'open', 'full', 'full']);
  other?.leave();
  expect(one?.enter(0)).toBe('open');
});

test('calls of restricted connections have one limit on all routers', () => {
  const [one, other] = countsOfRouters().map((counts) => new CallTable<Executor, object>('xxxx-4xxx-yxxx', 0, counts));
  const executor = { inFlight: 0, inFlightMax: 10, isAccepting: true };
  const call = { functionId: 'f', origin: undefined, originRef: 0, nowMs: 0, timeoutMs: 1_000, isRestricted: true };
  const run = one?.open({ ...call, executor });
  other?.open({ ...call, executor });
  other?.open({ ...call, executor: { ...executor, isRouter: true } });
  expect([one?.restrictedCount, other?.restrictedCount]).toEqual([2, 2]);
  if (run !== undefined) one?.settle(run);
  expect(other?.restrictedCount).toBe(1);
});

test('a call that is passed on to another router counts once', () => {
  const [here, there] = countsOfRouters().map((counts) => new CallTable<Executor, object>('xxxx-4xxx-yxxx', 0, counts));
  const call = { functionId: 'f', origin: undefined, originRef: 0, nowMs: 0, timeoutMs: 1_000 };
  const executor = { inFlight: 0, inFlightMax: 10, isAccepting: true };
  const passedOn = here?.open({ ...call, executor: { ...executor, isRouter: true } });
  const run = there?.open({ ...call, executor });
  expect([here?.openCount, here?.processCount, there?.processCount]).toEqual([1, 1, 1]);
  if (run !== undefined) there?.settle(run);
  if (passedOn !== undefined) here?.settle(passedOn);
  expect([here?.processCount, there?.processCount]).toEqual([0, 0]);
});

test('places to wait for a turn of a request are those of all routers', () => {
  const [one, other] = countsOfRouters().map(
    (counts) => new ConcurrencyLimit(2, counts.of('http requests'), counts.of('waiting http requests')),
  );
  const waiter = { admitted: () => {}, expired: () => {} };
  expect([one?.tryEnter(), other?.tryEnter(), one?.tryEnter()]).toEqual([true, true, false]);
  const leave = one?.wait(waiter, 0);
  expect(other?.wait(waiter, 0)).toBeDefined();
  expect([one?.wait(waiter, 0), other?.wait(waiter, 0)]).toEqual([undefined, undefined]);
  leave?.();
  expect(other?.wait(waiter, 0)).toBeDefined();
});

test('calls that wait for a worker have one limit on all routers, and their bytes, too', () => {
  const limits = { callsMax: 4, bytesMax: 100 * KIB };
  const [one, other] = countsOfRouters().map(
    (counts) =>
      new WaitingCalls<string, string>(limits, {
        calls: counts.of('waiting calls'),
        bytes: counts.bytesOf('waiting calls'),
      }),
  );
  const call = { functionId: 'f', isOfHandler: false, dueMs: 0, sinceMs: 0, request: 'r' };
  for (const owner of ['a', 'b']) one?.add({ ...call, owner, bytes: 30 * KIB });
  expect(other?.fullLimit('c', 50 * KIB)).toBe('waiting_bytes');
  expect(other?.fullLimit('c', 40 * KIB)).toBeUndefined();
  for (const owner of ['c', 'd']) other?.add({ ...call, owner, bytes: KIB });
  expect([one?.fullLimit('e', 1), other?.fullLimit('e', 1)]).toEqual(['waiting_calls', 'waiting_calls']);
  one?.take('f');
  expect(other?.fullLimit('e', 1)).toBeUndefined();
});

test('bytes that one router has taken are not left for another', () => {
  const [one, other] = countsOfRouters().map((counts) => new ByteBudget(100 * KIB, counts.bytesOf('HTTP bodies')));
  expect(one?.take(60 * KIB)).toBe(true);
  expect(other?.take(60 * KIB)).toBe(false);
  one?.giveBack(30 * KIB);
  expect(other?.take(60 * KIB)).toBe(true);
});

test('a router closes its share of the answers that no client reads, and none before others had their turn', () => {
  const [one, other] = countsOfRouters().map((counts) => new UnreadAnswers(100 * KIB, counts.bytesOf('HTTP answers')));
  const aborted: string[] = [];
  const hold = (unread: UnreadAnswers | undefined, name: string, bytes: number): void => {
    unread?.hold({ abort: () => aborted.push(name) }, bytes);
  };
  for (const nth of [1, 2, 3]) hold(one, `stuck ${nth}`, 30 * KIB);
  hold(other, 'new', 20 * KIB);
  expect(aborted).toEqual([]);
  one?.check();
  expect(aborted).toEqual(['stuck 1']);
  other?.check();
  expect(aborted).toEqual(['stuck 1']);
});
