import { expect, test } from 'vitest';
import { PendingCall } from '../../../src/sdk/pending-call.ts';
import { SentCalls } from '../../../src/sdk/sent-calls.ts';
import { madeCall } from './made-calls.ts';

function newCall(): PendingCall {
  return new PendingCall({ ...madeCall(), isVoid: false }, { expired() {} });
}

function add(calls: SentCalls, count: number): PendingCall[] {
  return Array.from({ length: count }, () => {
    const call = newCall();
    calls.add(call);
    return call;
  });
}

test('[I1] every call has a number of its own and is found by it, however many there are', () => {
  const calls = new SentCalls();
  const all = add(calls, 5_000);
  expect(new Set(all.map(({ number }) => number)).size).toBe(5_000);
  for (const call of all) expect(calls.find(call.number)).toBe(call);
  expect(calls.size).toBe(5_000);
  expect(new Set(calls.all())).toEqual(new Set(all));
});

test('[I1] a call that was removed is found no more, and neither is what was never a number', () => {
  const calls = new SentCalls();
  const [first, second] = add(calls, 2);
  if (first === undefined || second === undefined) throw new Error('two calls were added');
  expect(calls.remove(first)).toBe(true);
  expect(calls.remove(first)).toBe(false);
  expect(calls.find(first.number)).toBeUndefined();
  expect(calls.find(second.number)).toBe(second);
  for (const number of [0, -1, 1.5, 2 ** 32 + second.number, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(calls.find(number)).toBeUndefined();
  }
});

test('[I1] numbers begin anew behind the last one, past 0 and past those that are still in use', () => {
  const calls = new SentCalls(2 ** 32 - 3);
  const old = add(calls, 1);
  const others = add(calls, 3);
  expect([...old, ...others].map(({ number }) => number)).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 1, 2]);
  for (const call of [...old, ...others]) expect(calls.find(call.number)).toBe(call);
});

test('[I1] calls that are never answered do not come into the way of those behind them', () => {
  const calls = new SentCalls();
  const stuck = add(calls, 20);
  for (let round = 0; round < 10_000; round++) {
    const [call] = add(calls, 1);
    if (call === undefined) throw new Error('a call was added');
    expect(calls.find(call.number)).toBe(call);
    calls.remove(call);
  }
  for (const call of stuck) expect(calls.find(call.number)).toBe(call);
  expect(calls.size).toBe(20);
});
