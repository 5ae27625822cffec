import { describe, expect, test } from 'vitest';
import { ProcessCounts } from '../../../../src/core/limits/process-counts.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { OWN_SDK, openRestricted } from '../../../support/engine/restricted-port.ts';

const KIB = 1024;
const LIMITS = { outboundBufferBytes: 16 * KIB, outboundCloseBytes: 32 * KIB };

describe('a worker that does not read', () => {
  test('[I7] It gets no calls while its buffer is full, and another worker of the function does', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow, quick] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [slow, quick]) worker.register('f');
    slow.socket.stopReading();
    for (let call = 0; call < 8; call++) {
      caller.invoke('f', 'x'.repeat(10 * KIB));
      engine.flush();
    }
    expect([slow, quick].map((worker) => worker.received('invokefunction').length)).toEqual([2, 6]);
    expect(slow.socket.isOpen).toBe(true);
  });

  test('[I7] Calls to other functions are not delayed by it', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow, quick] = [engine.connect(), engine.connect(), engine.connect()];
    slow.register('slow');
    quick.register('quick');
    slow.socket.stopReading();
    for (let call = 0; call < 2; call++) {
      caller.invoke('slow', 'x'.repeat(10 * KIB));
      engine.flush();
    }
    const id = caller.invoke('quick');
    quick.result(quick.nextCall(), 'here');
    expect(caller.answerTo(id).result).toBe('here');
  });

  test('[guarantees 4] Its callers get OVERLOADED if no other worker has the function', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow] = [engine.connect(), engine.connect()];
    slow.register('f');
    slow.socket.stopReading();
    for (let call = 0; call < 2; call++) {
      caller.invoke('f', 'x'.repeat(10 * KIB));
      engine.flush();
    }
    const id = caller.invoke('f');
    expect(caller.answerTo(id).error).toEqual({
      code: 'OVERLOADED',
      message: 'Every worker that offers f is at its limit of running calls or buffered bytes',
    });
  });

  test('[guarantees 4] Bytes that wait for the end of the turn count', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow] = [engine.connect(), engine.connect()];
    slow.register('f');
    const ids = Array.from({ length: 4 }, () => caller.invoke('f', 'x'.repeat(10 * KIB)));
    expect(slow.received('invokefunction')).toHaveLength(2);
    expect(ids.slice(2).map((id) => caller.errorCodeOf(id))).toEqual(['OVERLOADED', 'OVERLOADED']);
  });

  test('[I7] It gets calls again as soon as it has read', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow] = [engine.connect(), engine.connect()];
    slow.register('f');
    slow.socket.stopReading();
    for (let call = 0; call < 2; call++) {
      caller.invoke('f', 'x'.repeat(10 * KIB));
      engine.flush();
    }
    slow.received();
    slow.socket.readOn();
    caller.invoke('f');
    expect(slow.received('invokefunction')).toHaveLength(1);
  });

  test('[guarantees 4] Beyond the second limit it is closed with 4408, and its callers are notified', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, slow, other] = [engine.connect(), engine.connect(), engine.connect()];
    slow.register('f');
    other.register('g');
    slow.socket.stopReading();
    const id = caller.invoke('f', 'x'.repeat(40 * KIB));
    engine.flush();
    expect(slow.socket.farewell).toMatchObject({ code: 4408 });
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(engine.count('connections.closed', 'too_slow')).toBe(1);
    expect(engine.logLines.join('\n')).toContain('the worker does not read what it is sent');
    expect(other.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] A caller that does not read its answers is closed in the same way', () => {
    const engine = new EngineInMemory({ limits: LIMITS });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.socket.stopReading();
    caller.invoke('f');
    worker.result(worker.nextCall(), 'x'.repeat(40 * KIB));
    engine.flush();
    expect(caller.socket.farewell).toMatchObject({ code: 4408 });
    expect(worker.socket.isOpen).toBe(true);
  });
});

describe('the buffers of the whole process', () => {
  test('[guarantees 4] Over the limit, only the connection with the most unread bytes is closed', () => {
    const engine = new EngineInMemory({ settings: { outboundBytesMax: 50 * KIB } });
    const caller = engine.connect();
    const workers = [10, 30, 20].map((kib) => ({ kib, worker: engine.connect() }));
    for (const { kib, worker } of workers) {
      worker.register(`f${kib}`);
      worker.socket.stopReading();
      caller.invoke(`f${kib}`, 'x'.repeat(kib * KIB));
    }
    engine.advance(1000);
    expect(workers.map(({ worker }) => worker.socket.farewell)).toMatchObject([undefined, { code: 4408 }, undefined]);
    expect(caller.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] [RO12] Over the limit, only the router with the most unread bytes closes a connection', () => {
    const first = ProcessCounts.ofRouters(3, 7);
    const routers = [first, ...[1, 2].map((router) => new ProcessCounts(first.shared, router))].map(
      (counts) => new EngineInMemory({ settings: { outboundBytesMax: 50 * KIB }, counts }),
    );
    // The last router has nothing to send.
    const workers = [20, 40, 0].map((kib, at) => {
      const [caller, worker] = [routers[at]?.connect(), routers[at]?.connect()];
      worker?.register('f');
      worker?.socket.stopReading();
      if (kib > 0) caller?.invoke('f', 'x'.repeat(kib * KIB));
      return [caller, worker];
    });
    // Each knows what the others have noted, at whichever of them the time passes first.
    for (let turn = 0; turn < 8; turn++) for (const router of routers) router.advance(250);
    const isOpen = workers.map((both) => both.map((one) => one?.socket.isOpen));
    expect(isOpen).toEqual([
      [true, true],
      [true, false],
      [true, true],
    ]);
  });

  test('[guarantees 4] [RO12] A connection that has read everything is never closed', async () => {
    const first = ProcessCounts.ofRouters(2, 7);
    const settings = { outboundBytesMax: 100 * KIB };
    const { engine, auth, backend, browser } = await openRestricted({ memory: { settings, counts: first } });
    const page = await browser(undefined, OWN_SDK);
    page.register('page');
    page.socket.stopReading();
    backend.invoke('page', 'x'.repeat(60 * KIB));
    const other = new EngineInMemory({ settings, counts: new ProcessCounts(first.shared, 1) });
    const caller = other.connect();
    for (const id of ['f', 'g']) {
      const worker = other.connect();
      worker.register(id);
      worker.socket.stopReading();
      caller.invoke(id, 'x'.repeat(45 * KIB));
    }
    for (let turn = 0; turn < 8; turn++) for (const router of [other, engine]) router.advance(250);
    expect(page.socket.isOpen).toBe(false);
    expect([auth, backend, caller].map(({ socket }) => socket.isOpen)).toEqual([true, true, true]);
  });

  test('[guarantees 4] Below the limit no connection is closed', () => {
    const engine = new EngineInMemory({ settings: { outboundBytesMax: 100 * KIB } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    worker.socket.stopReading();
    caller.invoke('f', 'x'.repeat(90 * KIB));
    engine.advance(2000);
    expect(worker.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] Connections are closed, largest first, until the buffers are below the limit', () => {
    const engine = new EngineInMemory({ settings: { outboundBytesMax: 25 * KIB } });
    const caller = engine.connect();
    const workers = [10, 30, 20, 12].map((kib) => ({ kib, worker: engine.connect() }));
    for (const { kib, worker } of workers) {
      worker.register(`f${kib}`);
      worker.socket.stopReading();
      caller.invoke(`f${kib}`, 'x'.repeat(kib * KIB));
    }
    engine.advance(2000);
    expect(workers.map(({ worker }) => worker.socket.isOpen)).toEqual([true, false, false, true]);
  });
});

describe('a frame that the library loses', () => {
  test('[L5] Its connection is closed at once and counted', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    worker.socket.isDropping = true;
    const id = caller.invoke('f');
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(worker.socket.farewell).toBe('terminated');
    expect(engine.count('connections.closed', 'frame_dropped')).toBe(1);
  });
});
