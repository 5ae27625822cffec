// The router's side of a store, with a thread that the test controls.

import { expect, test } from 'vitest';
import { Counters } from '../../../../src/core/registry/counters.ts';
import { createLogger } from '../../../../src/effects/logger.ts';
import { StoreClient } from '../../../../src/store/thread/client.ts';
import { type StoreReply, WAITING_BYTES_MAX } from '../../../../src/store/thread/contract.ts';
import {
  BatchReader,
  COMMAND_HEADER_BYTES,
  encodeReplies,
  type StoreAnswer,
  type StoreTask,
} from '../../../../src/store/thread/messages.ts';
import { FakeClock } from '../../../support/fakes/fake-clock.ts';

class FakeThread {
  readonly batches: string[][] = [];
  readonly traces: (string | undefined)[] = [];
  readonly #answers: ((answer: StoreAnswer) => void)[] = [];

  run(task: StoreTask): Promise<StoreAnswer> {
    if (task.kind !== 'batch') throw new Error(`The client asked for ${task.kind}`);
    const batch = new BatchReader(task.batch);
    const inputs = Array.from({ length: batch.count }, () => {
      batch.next();
      this.traces.push(batch.trace);
      return String(batch.input);
    });
    this.batches.push(inputs);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  async close(): Promise<void> {}

  /** The oldest batch that is away is done: every command is answered with its own input. */
  async answer(answer?: StoreAnswer): Promise<void> {
    const inputs = this.batches.shift() ?? [];
    const replies = inputs.map((input) => ({ result: Buffer.from(input) }));
    this.#answers.shift()?.(answer ?? encodeReplies(replies, { isFull: false, damagedRecords: 0 }));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function setUp() {
  const clock = new FakeClock();
  const thread = new FakeThread();
  const failures: string[] = [];
  const client = new StoreClient({
    name: 'test',
    worker: thread,
    clock,
    logger: createLogger({ level: 'error', format: 'default', clock, write: () => {} }),
    counters: new Counters(),
    onFailure: (reason) => failures.push(reason),
  });
  const answers: string[] = [];
  const run = (input: string): void =>
    client.run('state::get', Buffer.from(input), ({ result, error }: StoreReply) =>
      answers.push(error?.code ?? String(result)),
    );
  return { clock, thread, client, run, answers, failures };
}

test('[D2] Commands of one turn are sent together, and later ones gather while a batch runs', async () => {
  const { clock, thread, run, answers } = setUp();
  for (const input of ['1', '2', '3']) run(input);
  expect(thread.batches).toEqual([]);
  clock.flush();
  // One alone does not justify a sync of its own while the thread works; two do.
  for (const input of ['4', '5', '6']) {
    run(input);
    clock.flush();
  }
  expect(thread.batches).toEqual([
    ['1', '2', '3'],
    ['4', '5'],
  ]);
  await thread.answer();
  expect(answers).toEqual(['1', '2', '3']);
  expect(thread.batches).toEqual([['4', '5']]);
  await thread.answer();
  expect(thread.batches).toEqual([['6']]);
  await thread.answer();
  expect(answers).toEqual(['1', '2', '3', '4', '5', '6']);
});

test('A trace of any length is sent with its command', async () => {
  const { clock, thread, client, answers } = setUp();
  const traces = [undefined, `00-1-1-01\n${'b'.repeat(70_000)}`, '00-2-2-01\n', undefined];
  for (const [index, trace] of traces.entries()) {
    const answered = ({ result }: StoreReply): unknown => answers.push(String(result));
    client.run('state::set', Buffer.from(String(index)), answered, { trace });
  }
  clock.flush();
  expect(thread.traces).toEqual(traces);
  await thread.answer();
  expect(answers).toEqual(['0', '1', '2', '3']);
});

test('The count of waiting bytes is exact after traced writes', async () => {
  const { clock, thread, client, run, answers } = setUp();
  for (let write = 0; write < 20; write++) {
    client.run('state::set', Buffer.from('x'), () => {}, { trace: `00-1-1-01\n${'b'.repeat(1_000)}` });
  }
  for (clock.flush(); thread.batches.length > 0; ) await thread.answer();
  run('y'.repeat(WAITING_BYTES_MAX - COMMAND_HEADER_BYTES + 1));
  clock.flush();
  expect(answers).toEqual(['OVERLOADED']);
});

test('The memory of answers is freed once they are delivered, unless a listener may hold some of them', async () => {
  const { clock, thread, client } = setUp();
  const held: Uint8Array[] = [];
  const run = (input: string, wantsEvents: boolean): void =>
    client.run('state::set', Buffer.from(input), ({ result = Buffer.alloc(0) }) => held.push(result), { wantsEvents });
  run('alone', false);
  clock.flush();
  await thread.answer();
  run('heard', true);
  run('unheard', false);
  clock.flush();
  await thread.answer();
  run('alone again', false);
  clock.flush();
  await thread.answer();
  expect(held.map(String)).toEqual(['', 'heard', 'unheard', '']);
});

test('Answers are delivered on Node 20, where memory cannot be freed', async () => {
  const { clock, thread, client, answers } = setUp();
  const answered = ({ result }: StoreReply): unknown => answers.push(String(result));
  client.run('state::get', Buffer.from('1'), answered, { wantsEvents: false });
  clock.flush();
  const reply = encodeReplies([{ result: Buffer.from('1') }], { isFull: false, damagedRecords: 0 });
  await thread.answer(Object.assign(reply, { transfer: undefined }));
  await client.idle();
  expect(answers).toEqual(['1']);
});

test('[D2] Many commands of one turn are split: a batch holds up to half of all that waits, or 32', async () => {
  const { clock, thread, run, answers } = setUp();
  const inputs = Array.from({ length: 256 }, (_, index) => String(index));
  for (const input of inputs) run(input);
  clock.flush();
  const lengths: number[] = [];
  for (; thread.batches.length > 0; await thread.answer()) lengths.push(thread.batches[0]?.length ?? 0);
  expect(lengths).toEqual([32, 32, 64, 128]);
  expect(answers).toEqual(inputs);
});

test('[D2] Commands with the work of many callers are split like single ones', async () => {
  const { clock, thread, client } = setUp();
  for (const callers of [16, 16, 32, 1]) {
    client.run('queue::enqueue', Buffer.from(String(callers)), () => {}, { callers });
  }
  clock.flush();
  const batches: (readonly string[])[] = [];
  for (; thread.batches.length > 0; await thread.answer()) batches.push([...(thread.batches[0] ?? [])]);
  expect(batches).toEqual([['16', '16'], ['32'], ['1']]);
});

test('The thread gets its next batch before the answers of the last one are delivered', async () => {
  const { clock, thread, client, run } = setUp();
  let batchesWhenTold: unknown;
  client.run('state::get', Buffer.from('1'), () => {
    batchesWhenTold = thread.batches.map((batch) => [...batch]);
  });
  clock.flush();
  run('2');
  clock.flush();
  run('3');
  clock.flush();
  await thread.answer();
  expect(batchesWhenTold).toEqual([['2'], ['3']]);
});

test('[D3] After a failure every waiting and later command is refused, and the engine is notified once', async () => {
  const { clock, thread, client, run, answers, failures } = setUp();
  for (const input of ['1', '2', '3', '4']) {
    run(input);
    clock.flush();
  }
  await thread.answer({ failure: 'EIO' });
  run('5');
  expect(answers).toEqual(['STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE']);
  clock.flush();
  await thread.answer({ failure: 'EIO' });
  expect(answers).toEqual(Array.from({ length: 5 }, () => 'STORAGE_UNAVAILABLE'));
  expect(failures).toEqual(['EIO']);
  expect(client.trouble).toBe('the store failed');
  await client.idle();
});

test('The number of waiting commands is limited, and more are refused in a later turn', async () => {
  const { clock, thread, client, run, answers } = setUp();
  const input = '0'.repeat(8 * 1024 * 1024);
  for (let command = 0; command < 20; command++) run(input);
  expect(answers).toEqual([]);
  clock.flush();
  const refused = answers.length;
  expect(refused).toBeGreaterThan(0);
  expect(new Set(answers)).toEqual(new Set(['OVERLOADED']));
  while (thread.batches.length > 0) await thread.answer();
  expect(answers).toHaveLength(20);
  expect(answers.filter((answer) => answer === 'OVERLOADED')).toHaveLength(refused);
  run('1');
  clock.flush();
  await thread.answer();
  expect(answers.at(-1)).toBe('1');
  expect(client.trouble).toBeUndefined();
});

test('A listener that throws does not prevent other answers of its batch', async () => {
  const { clock, thread, client, run, answers } = setUp();
  client.run('state::get', Buffer.from('1'), () => {
    throw new Error('a defect');
  });
  run('2');
  clock.flush();
  await thread.answer();
  expect(answers).toEqual(['2']);
});
