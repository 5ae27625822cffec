// Compact payloads on their way through the engine: passed on unchanged where the other side can read them, after the
// shapes it needs, and converted everywhere else.

import { describe, expect, test } from 'vitest';
import { FLAG, KIND } from '../../../../src/protocol/binary/binary-layout.ts';
import { SUBPROTOCOL_COMPACT, SUBPROTOCOL_MSGPACK } from '../../../../src/protocol/frames/subprotocols.ts';
import { SHAPES_ASKED_MAX, SHAPES_MAX } from '../../../../src/protocol/payload/shape.ts';
import { Guard } from '../../../../src/router/restricted/guard.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { mutatedBatch } from '../../../support/random/binary-mutations.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';
import { Peer } from './binary-peer.ts';

const ORDER = { id: 'o-1', items: [{ sku: 'größe', price: 9.5 }], note: null };

function setUp() {
  const engine = new EngineInMemory({
    builtins: [{ id: 'engine::echo', description: '', handle: (payload: unknown) => ({ got: payload }) }],
  });
  const [caller, worker, portable] = [
    new Peer(engine, SUBPROTOCOL_COMPACT),
    new Peer(engine, SUBPROTOCOL_COMPACT),
    new Peer(engine, SUBPROTOCOL_MSGPACK),
  ];
  worker.register('f');
  portable.register('portable');
  const json = engine.connect();
  json.register('json');
  for (const peer of [caller, worker, portable]) peer.take();
  return { engine, caller, worker, portable, json };
}

/** The caller knows the numbers of everything in the value. */
function teach(caller: Peer, value: unknown): void {
  for (let round = 0; round < 2; round++) caller.compact(value);
  caller.ask();
  caller.take();
}

describe('a compact payload', () => {
  test('[wire 2.4] reaches a worker unchanged, after the shapes that the worker does not have yet', () => {
    const { caller, worker } = setUp();
    teach(caller, ORDER);
    caller.call('f', caller.compact(ORDER));
    const [first, second, call, ...rest] = worker.take();
    expect([first?.value, second?.value]).toEqual([
      ['sku', 'price'],
      ['id', 'items', 'note'],
    ]);
    expect(call).toMatchObject({ kind: 'call', isPacked: true, value: ORDER });
    expect(rest).toEqual([]);
    caller.call('f', caller.compact(ORDER));
    expect(
      worker.take().map(({ kind }) => kind),
      'once',
    ).toEqual(['call']);
  });

  test('[wire 2.4] returns with shape numbers that the caller knows', () => {
    const { caller, worker } = setUp();
    teach(caller, ORDER);
    caller.call('f', caller.compact(ORDER));
    const call = worker.take().at(-1);
    if (call === undefined) throw new Error('No call came');
    worker.answer(call, worker.compact(ORDER));
    expect(worker.asked, 'nothing is left to ask').toEqual([]);
    expect(caller.take()).toEqual([{ kind: 'result', idLow: 7, idHigh: 0, isPacked: true, value: ORDER }]);
  });

  test('[wire 2.4] may hold its keys', () => {
    const { caller, worker } = setUp();
    caller.call('f', caller.compact(ORDER));
    expect(worker.take()).toMatchObject([{ kind: 'call', isPacked: true, value: ORDER }]);
  });

  test('[wire 2.4] becomes JSON for a worker of the JSON form', () => {
    const { caller, json } = setUp();
    teach(caller, ORDER);
    caller.call('json', caller.compact(ORDER));
    expect(json.nextCall()).toMatchObject({ function_id: 'json', data: ORDER });
  });

  test('[wire 2.4] becomes JSON for a caller that cannot read it', () => {
    const { engine, worker, json } = setUp();
    teach(worker, ORDER);
    const id = json.invoke('f', 1);
    engine.flush();
    const [first] = worker.take();
    worker.answer(first ?? { kind: 'call' }, worker.compact(ORDER));
    expect(json.answerTo(id).result).toEqual(ORDER);
  });

  test('[wire 2.4] is read by functions of the engine, which answer in JSON', () => {
    const { caller } = setUp();
    caller.call('engine::echo', caller.compact(ORDER));
    expect(caller.take()).toMatchObject([{ kind: 'result', isPacked: false, value: { got: ORDER } }]);
  });

  test('[I1] that cannot be read ends only its call', () => {
    const { caller, worker, engine } = setUp();
    teach(caller, ORDER);
    const unknownShape = Buffer.from('800000' + '0f0f' + '030000' + '0001', 'hex');
    const noTail = Buffer.from('01', 'hex');
    for (const bytes of [unknownShape, noTail]) {
      caller.call('f', caller.compact(bytes));
      expect(caller.take()).toMatchObject([{ kind: 'error', idLow: 7, value: { code: 'BAD_REQUEST' } }]);
    }
    const rubbish = Buffer.from('ff' + '01000000' + '00', 'hex');
    for (const functionId of ['json', 'portable', 'engine::echo']) {
      caller.call(functionId, caller.compact(rubbish));
      expect(caller.take()).toMatchObject([{ kind: 'error', idLow: 7, value: { code: 'BAD_REQUEST' } }]);
    }
    caller.call('f', caller.compact(ORDER));
    const call = worker.take().at(-1);
    worker.answer(call ?? { kind: 'call' }, worker.compact(noTail));
    expect(caller.take()).toMatchObject([{ kind: 'error', value: { code: 'BAD_REQUEST' } }]);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[wire 2.4] a shape on a connection without compact payloads is refused', () => {
    const { portable, engine } = setUp();
    portable.write((messages) => messages.shape(0, '["a"]'));
    expect(portable.take()).toEqual([]);
    expect(engine.count('frames.refused')).toBe(1);
  });
});

describe('randomly damaged messages', () => {
  test('[fault 33] on one connection do not affect another', () => {
    forEachSeed(60, (random) => {
      const { engine, caller, worker } = setUp();
      const attacker = new Peer(engine, SUBPROTOCOL_COMPACT);
      for (let count = 0; count < 25; count++) {
        const batch = mutatedBatch(random, 'fromWorker');
        // Kind and flags of the first message: often a call or a result with a compact payload, or a shape.
        if (batch.length > 6 && random.chance(50)) batch[5] = (batch[5] ?? 0) | FLAG.packed | FLAG.payload;
        if (batch.length > 6 && random.chance(20)) batch[4] = KIND.shape;
        attacker.send(batch);
        attacker.call('f', attacker.compact(damaged(random, attacker.compactBytes(ORDER))));
        attacker.take();
      }
      worker.take();
      teach(caller, ORDER);
      caller.call('f', caller.compact(ORDER));
      const call = worker.take().at(-1);
      expect(call).toMatchObject({ kind: 'call', value: ORDER });
      worker.answer(call ?? { kind: 'call' }, worker.compact(ORDER));
      expect(caller.take().at(-1)).toMatchObject({ kind: 'result', idLow: 7, value: ORDER });
    });
  });
});

function damaged(random: SeededRandom, bytes: Buffer): Buffer {
  for (let fault = random.below(4); fault > 0; fault--) bytes[random.below(bytes.length)] = random.below(256);
  return random.chance(30) ? bytes.subarray(random.below(bytes.length)) : bytes;
}

describe('shape numbers', () => {
  test('[wire 2.4] are the same for all connections that ask for them', () => {
    const { caller, worker } = setUp();
    caller.write((messages) => messages.shape(0, '["a","b"]'));
    caller.write((messages) => messages.shape(0, '["b","a"]'));
    worker.write((messages) => messages.shape(0, ' [ "a", "\\u0062" ] '));
    const shapesSent = [
      { kind: 'shape', number: 0, value: ['a', 'b'] },
      { kind: 'shape', number: 1, value: ['b', 'a'] },
    ];
    expect(caller.take()).toEqual(shapesSent);
    expect(worker.take()).toEqual([shapesSent[0]]);
  });

  test('[wire 2.4] in an invalid list are refused, and the connection stays open', () => {
    const { caller, engine } = setUp();
    for (const text of ['', '{}', '["a","a"]', '["__proto__"]', `["${'k'.repeat(1024)}"]`]) {
      caller.write((messages) => messages.shape(0, text));
    }
    expect(engine.count('frames.refused')).toBe(5);
    caller.write((messages) => messages.shape(0, '["a"]'));
    expect(caller.take()).toMatchObject([{ kind: 'shape', number: 0 }]);
  });

  test('[wire 2.4] are not given to a restricted connection, whose payloads hold their keys', () => {
    const { engine, worker } = setUp();
    const none = { functions: undefined, triggers: undefined, triggerTypes: undefined };
    const rules = {
      access: undefined,
      rate: undefined,
      firingRate: undefined,
      port: { hooks: none, middlewareFunctionId: undefined },
    };
    const guard = new Guard({
      ...{ ...rules, askMsMax: 1000 },
      ...{ idleUntilMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY },
    });
    const guest = new Peer(engine, SUBPROTOCOL_COMPACT, guard);
    guest.write((messages) => messages.shape(0, '["a"]'));
    expect(guest.take().map(({ kind }) => kind)).not.toContain('shape');
    expect(engine.count('shapes.refused')).toBe(1);
    guest.call('f', guest.compact(ORDER));
    expect(worker.take()).toMatchObject([{ kind: 'call', isPacked: true, value: ORDER }]);
  });

  test('[guarantees 4] are limited to 1024 per connection and 4096 in all, and refused ones are counted', () => {
    const { engine } = setUp();
    const peers = Array.from({ length: 5 }, () => new Peer(engine, SUBPROTOCOL_COMPACT));
    for (const [of, peer] of peers.entries()) {
      peer.write((messages) => {
        for (let at = 0; at <= SHAPES_ASKED_MAX; at++) messages.shape(0, `["k-${of}-${at}"]`);
      });
    }
    const shapesSent = peers.map((peer) => peer.take().filter(({ kind }) => kind === 'shape').length);
    expect(shapesSent).toEqual([SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, 0]);
    expect(engine.context.compact.shapes.size).toBe(SHAPES_MAX);
    expect(engine.count('shapes.refused')).toBe(4 + 1 + SHAPES_ASKED_MAX);
  });
});
