import { expect, test } from 'vitest';
import { PendingCall, SentCalls } from '../../../../src/sdk/calls/pending-calls.ts';
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

test('[I1] every call has its own number and is found by it, for any number of calls', () => {
  const calls = new SentCalls();
  const all = add(calls, 5_000);
  expect(new Set(all.map(({ number }) => number)).size).toBe(5_000);
  for (const call of all) expect(calls.find(call.number)).toBe(call);
  expect(calls.size).toBe(5_000);
  expect(new Set(calls.on(undefined))).toEqual(new Set(all));
});

test('[I1] a removed call and an unassigned number are not found', () => {
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

test('[I1] numbers start again after the last one, and skip 0 and those in use', () => {
  const calls = new SentCalls(2 ** 32 - 3);
  const old = add(calls, 1);
  const others = add(calls, 3);
  expect([...old, ...others].map(({ number }) => number)).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 1, 2]);
  for (const call of [...old, ...others]) expect(calls.find(call.number)).toBe(call);
});

test('[I1] calls that are never answered do not block the calls that follow', () => {
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
