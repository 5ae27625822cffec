import { expect, test } from 'vitest';
import { type WaitingCall, WaitingCalls } from '../../../../src/core/calls/waiting-calls.ts';

type Waiting = WaitingCalls<string, string>;

function add(waiting: Waiting, request: string, fields: Partial<WaitingCall<string, string>> = {}): void {
  const defaults = { functionId: 'f', owner: 'one', isOfHandler: false, bytes: 10, sinceMs: 0, dueMs: 1_000 };
  waiting.add({ ...defaults, request, ...fields });
}

const next = (waiting: Waiting, functionId = 'f'): string | undefined => waiting.take(functionId)?.request;

test('[L6] one caller may use half of the calls and half of the bytes', () => {
  const waiting: Waiting = new WaitingCalls({ callsMax: 4, bytesMax: 100 });
  add(waiting, '1');
  expect(waiting.fullLimit('one', 41)).toBe('waiting_bytes');
  expect(waiting.fullLimit('one', 40)).toBeUndefined();
  expect(waiting.fullLimit('two', 50)).toBeUndefined();
  add(waiting, '2');
  expect(waiting.fullLimit('one', 1)).toBe('waiting_calls');
  add(waiting, '3', { owner: 'two' });
  add(waiting, '4', { owner: 'three' });
  expect(waiting.fullLimit('four', 1)).toBe('waiting_calls');
  next(waiting);
  expect(waiting.fullLimit('four', 1)).toBeUndefined();
});

test('[L6] calls of handlers leave before others', () => {
  const waiting: Waiting = new WaitingCalls({ callsMax: 100, bytesMax: 1_000 });
  add(waiting, 'outer');
  add(waiting, 'inner', { owner: 'two', isOfHandler: true });
  expect([next(waiting), next(waiting), next(waiting)]).toEqual(['inner', 'outer', undefined]);
});

test('[L6] functions take turns', () => {
  const waiting: Waiting = new WaitingCalls({ callsMax: 100, bytesMax: 1_000 });
  for (const functionId of ['f', 'f', 'g']) add(waiting, functionId, { functionId });
  expect(waiting.functionIds()).toEqual(['f', 'g']);
  next(waiting, 'f');
  expect(waiting.functionIds()).toEqual(['g', 'f']);
  next(waiting, 'g');
  expect(waiting.functionIds()).toEqual(['f']);
});

test('[L6] a call leaves everything when it expires, is taken or is removed', () => {
  const waiting: Waiting = new WaitingCalls({ callsMax: 100, bytesMax: 1_000 });
  add(waiting, 'late', { dueMs: 500, isOfHandler: true });
  add(waiting, 'taken');
  add(waiting, 'removed');
  expect(waiting.takeExpired(499)).toEqual([]);
  expect(waiting.takeExpired(500).map(({ request }) => request)).toEqual(['late']);
  const removed = waiting.takeWhere(({ request }) => request === 'removed');
  for (const call of removed) waiting.remove(call);
  expect(next(waiting)).toBe('taken');
  expect([waiting.size, waiting.bytes, waiting.ofHandlers.size, waiting.hasLine('f')]).toEqual([0, 0, 0, false]);
});
