// The memory use of the map of `in_memory` stores; `kv-lmdb.test.ts` tests the rest.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { MemoryKv } from '../../../../src/store/kv/kv-memory.ts';

const ENTRIES = 5_000;
const MIB = 1024 * 1024;

test('[S6] Small values are read unchanged', () => {
  const kv = new MemoryKv();
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  for (const size of [0, 1, 256, 4_095, 4_096, 5_000]) {
    const value = Buffer.alloc(size, every);
    kv.put(every, value);
    const kept = Buffer.from(value);
    value.fill(0);
    expect(Buffer.from(kv.get(every) ?? []).equals(kept)).toBe(true);
    for (const { value: listed } of kv.range(every, Buffer.alloc(257, every).fill(255, 0, 1))) {
      expect(Buffer.from(listed).equals(kept)).toBe(true);
    }
  }
});

test('[guarantees 4] A small value holds only its own memory', () => {
  const kv = new MemoryKv();
  const before = bufferBytes();
  for (let entry = 0; entry < ENTRIES; entry++) {
    kv.put(Buffer.from(`key ${entry}`), Buffer.from('12'));
    // Buffers that others on the thread allocate and release: they fill the rest of the pool for small buffers.
    for (let other = 0; other < 4; other++) Buffer.from('x'.repeat(2_000));
  }
  expect(bufferBytes() - before).toBeLessThan(4 * MIB);
  expect(String(kv.get(Buffer.from('key 7')))).toBe('12');
});

/** The bytes of all buffers that are still referenced. */
function bufferBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Memory that the first collection finds is freed concurrently; the second waits for that.
  for (let time = 0; time < 2; time++) if (typeof collect === 'function') collect();
  return process.memoryUsage().arrayBuffers;
}
