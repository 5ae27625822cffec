import { describe, expect, test } from 'vitest';
import { LARGE_FRAME_BYTES } from '../../../../src/router/calls/large-frames.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../../support/random/seeded-random.ts';

const LARGE = 'x'.repeat(LARGE_FRAME_BYTES);
const MIB = 1024 * 1024;
/** For a worker that receives more than one connection may have unread. */
const ROOMY = { limits: { outboundBufferBytes: 100 * MIB, outboundCloseBytes: 100 * MIB } };

describe('a large frame that another thread scans', () => {
  test('[I7] It delays its own connection only', async () => {
    const engine = new EngineInMemory();
    const [sender, other, worker] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    sender.invoke('f', LARGE);
    other.invoke('f', 'small');
    expect(worker.nextCall().data).toBe('small');
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.nextCall().data).toBe(LARGE);
  });

  test('[I7] Later frames of the connection are handled after it, in order', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    sender.invoke('f', LARGE);
    for (const data of [1, 2, 3]) sender.invoke('f', data);
    expect(worker.received()).toEqual([]);
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.received('invokefunction').map(({ data }) => (data === LARGE ? 'large' : data))).toEqual([
      'large',
      1,
      2,
      3,
    ]);
    sender.invoke('f', 4);
    expect(worker.nextCall().data).toBe(4);
  });

  test('[I7] A second large frame is sent to the thread after the first', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    sender.invoke('f', `1${LARGE}`);
    sender.invoke('f', 2);
    sender.invoke('f', `3${LARGE}`);
    sender.invoke('f', 4);
    expect(engine.pool.scanCount).toBe(1);
    engine.pool.finishScan();
    await engine.turn();
    expect(starts(worker)).toEqual(['1', '2']);
    expect(engine.pool.scanCount).toBe(1);
    engine.pool.finishScan();
    await engine.turn();
    expect(starts(worker)).toEqual(['3', '4']);
  });

  test('[I7] If the thread fails, the frame is scanned by the router', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    sender.invoke('f', LARGE);
    sender.invoke('f', 2);
    engine.pool.failScan();
    await engine.turn();
    expect(worker.received('invokefunction').map(({ data }) => data === LARGE)).toEqual([true, false]);
  });

  test('[wire 1.5] An invalid frame is dropped, and later frames are handled', async () => {
    const engine = new EngineInMemory();
    const sender = engine.connect();
    sender.send(`{"type":"ping","x":"${LARGE}`);
    sender.send({ type: 'ping' });
    engine.pool.finishScan();
    await engine.turn();
    expect(sender.received().map(({ type }) => type)).toEqual(['pong']);
    expect(engine.count('frames.refused')).toBe(1);
  });

  test('[PD-8] Its payload arrives byte for byte', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const data = `{ "é":"${'名'.repeat(100_000)}" , "n": 1.0e0, "a":1,"a":2 }`;
    sender.send(`{"type":"invokefunction","function_id":"f","data":${data}}`);
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.socket.texts.at(-1)).toContain(`"data":${data},`);
  });

  test('[I7] A large result ends its call like any other', async () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    worker.result(worker.nextCall(), LARGE);
    expect(caller.answersTo(id)).toEqual([]);
    engine.pool.finishScan();
    await engine.turn();
    expect(caller.answerTo(id).result).toBe(LARGE);
  });

  test('[I7] A frame one byte smaller is handled at once', () => {
    const engine = new EngineInMemory();
    const sender = engine.connect();
    const empty = JSON.stringify({ type: 'ping', x: '' });
    sender.send({ type: 'ping', x: 'x'.repeat(LARGE_FRAME_BYTES - empty.length - 1) });
    expect(sender.received()).toEqual([{ type: 'pong' }]);
    sender.send({ type: 'ping', x: 'x'.repeat(LARGE_FRAME_BYTES - empty.length) });
    expect(sender.received()).toEqual([]);
    expect(engine.pool.scanCount).toBe(1);
  });
});

describe('a connection that sends more frames during the scan', () => {
  test('[guarantees 1.2] Waiting frames are limited, and over the limit the router handles all of them in order', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect(ROOMY)];
    worker.register('f');
    sender.invoke('f', `0${LARGE}`);
    sender.invoke('f', '1');
    sender.invoke('f', `2${'x'.repeat(31 * MIB)}`);
    expect(worker.received()).toEqual([]);
    sender.invoke('f', `3${'x'.repeat(MIB)}`);
    expect(starts(worker)).toEqual(['0', '1', '2', '3']);
    // A newer frame is away when the thread returns the one that is no longer needed.
    sender.invoke('f', `4${LARGE}`);
    sender.invoke('f', '5');
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.received()).toEqual([]);
    engine.pool.finishScan();
    await engine.turn();
    expect(starts(worker)).toEqual(['4', '5']);
  });
});

describe('connections that send more frames during the scan', () => {
  test('[guarantees 1.2] Nearly empty frames count towards the limit', async () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect(ROOMY)];
    worker.register('f');
    sender.invokeVoid('f', LARGE);
    for (let count = 0; count < 130_000; count++) sender.send({ type: 'pong' });
    expect(worker.received('invokefunction')).toHaveLength(1);
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.received()).toEqual([]);
  });
});

describe('a connection that ends during the scan', () => {
  test.each([
    ['a function', { type: 'registerfunction', id: 'ghost', description: LARGE }],
    ['a trigger', { type: 'registertrigger', id: 't', trigger_type: 'x', function_id: 'f', config: LARGE }],
    ['a trigger type', { type: 'registertriggertype', id: 'ghost', description: LARGE }],
  ])('[W2] %s that it sent is not registered after it has left', async (_kind, frame) => {
    const engine = new EngineInMemory();
    const leaver = engine.connect();
    leaver.send(frame);
    leaver.send({ type: 'registerfunction', id: 'later' });
    leaver.drop();
    engine.pool.finishScan();
    await engine.turn();
    expect(engine.context.functions.get('ghost')).toBeUndefined();
    expect(engine.context.functions.get('later')).toBeUndefined();
    expect([...engine.context.triggers.bindings()]).toEqual([]);
    expect(engine.context.triggers.type('ghost')).toBeUndefined();
    expect(engine.count('frames.dropped', 'connection_closed')).toBe(2);
  });

  test('[W2] A call that it sent is not made after it has left', async () => {
    const engine = new EngineInMemory();
    const [leaver, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    leaver.invoke('f', LARGE);
    leaver.drop();
    engine.pool.finishScan();
    await engine.turn();
    expect(worker.received()).toEqual([]);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[W3] An old connection cannot register anything after its successor has taken over', async () => {
    const engine = new EngineInMemory();
    const old = engine.connect();
    old.send({ type: 'registerfunction', id: 'f', description: LARGE });
    const successor = engine.connect();
    successor.reattach(old);
    successor.register('f');
    engine.pool.finishScan();
    await engine.turn();
    const workers = engine.context.functions.get('f');
    const ids = workers?.kind === 'worker' ? workers.executors.map(({ workerId }) => workerId) : [];
    expect(ids).toEqual([successor.workerId]);
  });
});

describe('frames of any size from several connections', () => {
  test('[I7] Each connection keeps its order, in whatever order the scans end', async () => {
    await forEachSeedInTurn(8, async (random) => {
      const engine = new EngineInMemory({ random });
      const worker = engine.connect();
      worker.register('f');
      const senders = [engine.connect(), engine.connect(), engine.connect()];
      const counts = senders.map(() => 0);
      for (let step = 0; step < 40; step++) {
        const from = random.below(senders.length);
        const number = (counts[from] ?? 0) + 1;
        counts[from] = number;
        senders[from]?.invoke('f', [from, number, random.chance(30) ? LARGE : '']);
        if (engine.pool.scanCount > 0 && random.chance(40)) await finishOne(engine, random);
      }
      while (engine.pool.scanCount > 0) await finishOne(engine, random);
      const calls = worker.received('invokefunction').map(({ data }) => (Array.isArray(data) ? data : []));
      for (const [from, count] of counts.entries()) {
        const numbers = calls.filter((call) => call[0] === from).map((call) => call[1]);
        expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      }
    });
  });
});

async function finishOne(engine: EngineInMemory, random: SeededRandom): Promise<void> {
  if (random.chance(50)) engine.pool.finishScan();
  else engine.pool.finishNewestScan();
  await engine.turn();
}

/** First character of the data of each call since the last call of this. */
function starts(worker: TestWorker): string[] {
  return worker.received('invokefunction').map(({ data }) => String(data).slice(0, 1));
}
