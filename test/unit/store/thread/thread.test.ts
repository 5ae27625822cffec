// The store's own thread, run in this one.

import { expect, test } from 'vitest';
import { type SpaceLeft, UNLIMITED_SPACE } from '../../../../src/store/kv/disk-space.ts';
import { type Kv, type KvReader, StoreFull } from '../../../../src/store/kv/kv.ts';
import { MemoryKv, MemoryStore } from '../../../../src/store/kv/kv-memory.ts';
import { DamagedRecord } from '../../../../src/store/kv/record.ts';
import { commandNumber } from '../../../../src/store/thread/commands.ts';
import { STORE_LIMITS, type StoreReply } from '../../../../src/store/thread/contract.ts';
import { BatchWriter, ReplyReader } from '../../../../src/store/thread/messages.ts';
import { StoreThread } from '../../../../src/store/thread/thread.ts';

const OPTIONS = { epoch: 'e', run: '1', isDropIn: false, limits: STORE_LIMITS };

interface Command {
  readonly name: string;
  readonly input: object;
}

const set = (key: string, value: unknown): Command => ({ name: 'state::set', input: { scope: 's', key, value } });
const get = (key: string): Command => ({ name: 'state::get', input: { scope: 's', key } });
const remove = (key: string): Command => ({ name: 'state::delete', input: { scope: 's', key } });

function runBatch(thread: StoreThread, ...commands: Command[]): StoreReply[] {
  const writer = new BatchWriter();
  for (const { name, input } of commands) writer.add(commandNumber(name), true, Buffer.from(JSON.stringify(input)));
  const answer = thread.runBatches([writer.take({ nowMs: 0, monotonicMs: 0 })])[0] ?? { failure: 'no answer' };
  if (!(answer instanceof ArrayBuffer)) throw new Error(answer.failure);
  const reader = new ReplyReader(answer);
  return commands.map(() => reader.next());
}

const texts = (replies: StoreReply[]) => replies.map(({ result, error }) => error?.code ?? String(result));

test('[S1] A command that is refused changes nothing, and the others of its batch run', () => {
  const thread = new StoreThread(new MemoryStore(), OPTIONS, UNLIMITED_SPACE);
  const replies = runBatch(
    thread,
    set('a', 1),
    set('', 2),
    { name: 'state::update', input: {} },
    set('b', 3),
    get('a'),
  );
  expect(texts(replies).slice(1, 3)).toEqual(['BAD_REQUEST', 'deserialization_error']);
  expect(texts(runBatch(thread, get('a'), get('b')))).toEqual(['1', '3']);
});

test('[D2] All commands of a batch share one transaction, and a batch that only reads has none', () => {
  const store = new CountingStore();
  const thread = new StoreThread(store, OPTIONS, UNLIMITED_SPACE);
  runBatch(thread, set('a', 1), get('a'), set('b', 2));
  runBatch(thread, get('a'), get('b'));
  expect([store.writes, store.reads]).toEqual([1, 1]);
});

test('[D4] On a full disk growing writes are refused, and deletes and reads run while they can', () => {
  let left: SpaceLeft = 'plenty';
  const thread = new StoreThread(new MemoryStore(), OPTIONS, { left: () => left });
  runBatch(thread, set('a', 1), set('b', 1));
  left = 'reserve';
  const update = { name: 'state::update', input: { scope: 's', key: 'a', ops: [] } };
  expect(texts(runBatch(thread, set('a', 2), update, remove('a'), get('b')))).toEqual([
    'STORAGE_FULL',
    'STORAGE_FULL',
    '1',
    '1',
  ]);
  left = 'none';
  expect(texts(runBatch(thread, remove('b'), get('b')))).toEqual(['STORAGE_FULL', '1']);
  left = 'plenty';
  expect(texts(runBatch(thread, remove('b')))).toEqual(['1']);
});

test('[D6] A full map is handled like a full disk', () => {
  const thread = new StoreThread(new FullWhenPutting(), OPTIONS, UNLIMITED_SPACE);
  expect(texts(runBatch(thread, set('a', 1), remove('a'), get('a')))).toEqual(['STORAGE_FULL', 'null', 'null']);
});

test('[D9] A damaged record is reported, not changed, and does not affect other commands', () => {
  const thread = new StoreThread(new DamagedUnder('bad'), OPTIONS, UNLIMITED_SPACE);
  const replies = runBatch(thread, set('good', 1), get('bad'), set('bad', 2), remove('bad'), get('good'));
  expect(texts(replies).filter((text) => text === 'STORAGE_CORRUPT')).toHaveLength(3);
  expect(texts(runBatch(thread, get('good')))).toEqual(['1']);
});

test('[S4] The answers of a batch are limited: later commands are refused, and change nothing', () => {
  const thread = new StoreThread(new MemoryStore(), OPTIONS, UNLIMITED_SPACE);
  runBatch(thread, set('large', 'x'.repeat(4_000_000)));
  const reads = Array.from({ length: 60 }, () => get('large'));
  const replies = runBatch(thread, ...reads, set('small', 1), remove('large'));
  const bytes = replies.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
  expect(bytes).toBeLessThan(160_000_000);
  expect(texts(replies.slice(-3, -1))).toEqual(['OVERLOADED', 'OVERLOADED']);
  // Deletes still run, as on a full disk.
  expect(replies.at(-1)?.error).toBe(undefined);
  expect(texts(runBatch(thread, get('small'), get('large')))).toEqual(['null', 'null']);
});

test('[D3] The first transaction that fails is the last one that is attempted', () => {
  const store = new CountingStore();
  const thread = new StoreThread(store, OPTIONS, UNLIMITED_SPACE);
  store.failure = new Error('EIO');
  expect(() => runBatch(thread, set('a', 1))).toThrow('EIO');
  store.failure = undefined;
  expect(() => runBatch(thread, set('a', 1))).toThrow('EIO');
  expect(() => runBatch(thread, get('a'))).toThrow('EIO');
  expect(store.writes).toBe(1);
});

class CountingStore extends MemoryStore {
  reads = 0;
  writes = 0;
  failure: Error | undefined;

  override read<T>(work: (kv: KvReader) => T): T {
    this.reads++;
    return super.read(work);
  }

  override write<T>(work: (kv: Kv) => T): T {
    this.writes++;
    const done = super.write(work);
    if (this.failure !== undefined) throw this.failure;
    return done;
  }
}

class FullWhenPutting extends MemoryStore {
  override write<T>(work: (kv: Kv) => T): T {
    const kv = new MemoryKv();
    kv.put = () => {
      throw new StoreFull('full');
    };
    return work(kv);
  }
}

class DamagedUnder extends MemoryStore {
  readonly #kv = new MemoryKv();

  constructor(name: string) {
    super();
    const getSound = this.#kv.get.bind(this.#kv);
    this.#kv.get = (key) => {
      if (Buffer.from(key).includes(name)) throw new DamagedRecord('fails its checksum', key);
      return getSound(key);
    };
  }

  override read<T>(work: (kv: KvReader) => T): T {
    return work(this.#kv);
  }

  override write<T>(work: (kv: Kv) => T): T {
    return work(this.#kv);
  }
}
