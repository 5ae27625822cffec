import { expect, test } from 'vitest';
import { PayloadStore } from '../../../../../src/core/telemetry/payloads/payload-store.ts';

const pair = (id: string, hasFailed: boolean, chars = 1_000) => ({
  ...{ traceId: `t${id}`, spanId: `s${id}`, hasFailed },
  input: { json: JSON.stringify('x'.repeat(chars)), isWhole: true, bytes: chars + 2 },
  output: null,
});

function storeOf(bytesMax: number) {
  const drops = { count: 0 };
  const store = new PayloadStore(bytesMax, (count) => {
    drops.count += count;
  });
  const has = (...ids: string[]) => ids.filter((id) => store.pairOf(`t${id}`, `s${id}`) !== undefined);
  return { store, drops, has };
}

test('[O9] When room is short, the oldest payloads leave, those of calls that failed last', () => {
  const { store, drops, has } = storeOf(10_500);
  store.add(pair('1', true));
  for (const id of ['2', '3', '4', '5', '6']) store.add(pair(id, false));
  expect(has('1', '2', '3', '4', '5', '6')).toEqual(['1', '4', '5', '6']);
  expect(drops.count).toBe(2);
  expect(store.bytes).toBeLessThanOrEqual(10_500);
});

test('[O9] Payloads of calls that failed have half of the room', () => {
  const { store, has } = storeOf(10_500);
  for (const id of ['1', '2']) store.add(pair(id, false));
  for (const id of ['3', '4', '5']) store.add(pair(id, true));
  expect(has('1', '2', '3', '4', '5')).toEqual(['1', '2', '4', '5']);
});

test('[O9] Payloads leave with their trace', () => {
  const { store, has } = storeOf(100_000);
  for (const id of ['1', '2', '3']) store.add(pair(id, id === '2'));
  store.forget('t2');
  store.forget('t1');
  expect(has('1', '2', '3')).toEqual(['3']);
  store.forget('t3');
  expect(store.bytes).toBe(0);
});

test('[O9] A smaller room applies at once', () => {
  const { store, has } = storeOf(100_000);
  for (const id of ['1', '2', '3']) store.add(pair(id, false));
  store.adopt(3_000);
  expect(has('1', '2', '3')).toEqual(['3']);
});
