import { describe, expect, test } from 'vitest';
import { MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { mapReferences } from '../../../../src/protocol/payload/compact-layout.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { SHAPES_MAX } from '../../../../src/protocol/payload/shape.ts';
import type { Outcome } from '../../../../src/router/calls/call.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { type LinkedEngine, LinkedPair } from '../../../support/cluster/linked-engines.ts';
import { mutatedBatch } from '../../../support/random/binary-mutations.ts';
import { CompactPair } from '../../../support/random/compact-pair.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

/** A payload in the compact form, with numbers of the engine for all its shapes. */
function compactPayload({ engine }: LinkedEngine, value: unknown): Payload {
  const { compact } = engine.context;
  const asked: string[] = [];
  const encoder = new CompactEncoder(nodeMemory, (keyList) => asked.push(keyList));
  // Shapes that are used again and again are given numbers.
  for (let use = 0; use < USES; use++) encoder.encode(value);
  for (const keyList of asked) {
    const number = compact.shapes.numberOf(keyList) ?? -1;
    const shape = compact.shapes.shape(number);
    if (shape !== undefined) encoder.learn(shape, number);
  }
  encoder.release();
  const encoded = encoder.encode(value);
  if (encoded === undefined) throw new Error('The value has no compact form');
  const bytes = Buffer.from(encoder.memory.slice(encoded.start, encoded.start + encoded.length));
  return Payload.ofPacked(bytes, 0, bytes.length, compact);
}

const USES = 100;
const ORDER = {
  id: 'o-1',
  items: [
    { sku: 'a', price: 1.5 },
    { sku: 'b', price: 2 },
  ],
  note: 'Zürich',
};

/** Other shapes first, so that one number means two things. */
function giveOtherNumbers({ engine }: LinkedEngine, count: number): void {
  for (let index = 0; index < count; index++) engine.context.compact.shapes.numberOf(`["other ${index}"]`);
}

function callFrom({ a }: LinkedPair, payload: Payload): Outcome[] {
  const outcomes: Outcome[] = [];
  a.engine.port.call({ functionId: 'far::one', payload, depth: 0 }, (outcome) => {
    // A payload is valid until this returns.
    outcomes.push({ ...outcome, result: outcome.result?.kept(), error: outcome.error?.kept() });
  });
  return outcomes;
}

describe('a compact payload between two engines', () => {
  test.each([0, 3, SHAPES_MAX])('[CL21] has the same value there, where %i shapes had numbers before', (others) => {
    using pair = new LinkedPair();
    giveOtherNumbers(pair.b, others);
    const worker = pair.b.engine.connect();
    worker.register('far::one');
    pair.a.reaches('far::one');
    for (let round = 0; round < 2; round++) {
      const outcomes = callFrom(pair, compactPayload(pair.a, ORDER));
      pair.pass();
      const call = worker.nextCall();
      expect(call.data).toEqual(ORDER);
      worker.result(call, { ok: true });
      pair.pass();
      expect(outcomes.map(({ result }) => result?.asText())).toEqual(['{"ok":true}']);
    }
  });

  test('[CL21] whose shapes were never announced is refused, and runs with no other value', () => {
    using pair = new LinkedPair();
    const worker = pair.b.engine.connect();
    worker.register('far::one');
    const payload = compactPayload(pair.a, ORDER);
    const frames = new MessageBuffer();
    frames.name(0, 'far::one');
    const rest = { metadata: undefined, traceparent: undefined, baggage: undefined, extra: undefined };
    frames.call({ ...rest, idLow: 0, idHigh: 0, functionNumber: 0, depth: 0, timeoutMs: 1_000, payload });
    pair.b.serve.receive(Buffer.from(frames.view()));
    pair.b.engine.flush();
    expect(worker.received('invokefunction')).toEqual([]);
  });

  test('[CL21] keeps every value when its references get other numbers', () => {
    const from = new CompactPair();
    const to = new CompactPair();
    for (let index = 0; index < 5; index++) to.shapes.numberOf(`["other ${index}"]`);
    for (let use = 0; use < USES; use++) from.encode(ORDER);
    from.answer();
    const bytes = from.encode(ORDER);
    if (bytes === undefined) throw new Error('The value has no compact form');
    const numberFor = (number: number) => to.shapes.numberOf(from.shapes.keyList(number) ?? '');
    expect(mapReferences(bytes, 0, bytes.length, () => undefined)).toBe('unmapped');
    expect(from.decode(bytes)).toEqual(ORDER);
    expect(mapReferences(bytes, 0, bytes.length, numberFor)).toBe('mapped');
    expect(to.decode(bytes)).toEqual(ORDER);
    expect(mapReferences(bytes, 0, 3, numberFor)).toBe('invalid');
  });
});

describe('a call that another engine runs', () => {
  test('[CL13] is answered once when the session ends, and a late result changes nothing', () => {
    using pair = new LinkedPair();
    const worker = pair.b.engine.connect();
    worker.register('far::one');
    pair.a.reaches('far::one');
    const outcomes = callFrom(pair, Payload.ofText(rawJson(1)));
    pair.pass();
    const call = worker.nextCall();
    pair.a.lose();
    worker.result(call, 'late');
    pair.pass();
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]?.error?.asText()).toContain('invocation_stopped');
    expect(pair.a.engine.context.calls.openCount).toBe(0);
    expect(pair.a.other.inFlight).toBe(0);
  });

  test('[CL13] runs to its end there without a caller when the session ends', () => {
    using pair = new LinkedPair();
    const worker = pair.b.engine.connect();
    worker.register('far::one');
    pair.a.reaches('far::one');
    callFrom(pair, Payload.ofText(rawJson(1)));
    pair.pass();
    const call = worker.nextCall();
    pair.b.lose();
    worker.result(call, 'done');
    pair.pass();
    expect(pair.b.engine.context.calls.openCount).toBe(0);
    expect(pair.b.link.frames.length).toBe(0);
  });

  test('[CL10] is refused while there is no room, and its result is sent', () => {
    using pair = new LinkedPair();
    const worker = pair.b.engine.connect();
    worker.register('far::one');
    pair.a.reaches('far::one');
    const first = callFrom(pair, Payload.ofText(rawJson(1)));
    pair.pass();
    pair.a.link.hasRoom = false;
    pair.b.link.hasRoom = false;
    const second = callFrom(pair, Payload.ofText(rawJson(2)));
    expect(second[0]?.error?.asText()).toContain('OVERLOADED');
    worker.result(worker.nextCall(), 'done');
    pair.pass();
    expect(first[0]?.result?.asText()).toBe('"done"');
  });

  test('[CL11] is not passed on to a third engine', () => {
    using pair = new LinkedPair();
    pair.a.reaches('far::one');
    pair.b.reaches('far::one');
    const outcomes = callFrom(pair, Payload.ofText(rawJson(1)));
    pair.pass();
    expect(outcomes[0]?.error?.asText()).toContain('function_not_found');
  });

  test('[CL14] is refused with ENGINE_UNREACHABLE while there is no session', () => {
    using pair = new LinkedPair();
    pair.a.reaches('far::one');
    pair.a.lose();
    const outcomes = callFrom(pair, Payload.ofText(rawJson(1)));
    expect(outcomes[0]?.error?.asText()).toContain('ENGINE_UNREACHABLE');
    expect(outcomes[0]?.error?.asText()).toContain('the test says so');
  });
});

test('[CL9] damaged frames of another engine end the session or change nothing, and never the process', () => {
  forEachSeed(2_000, (random) => {
    using pair = new LinkedPair();
    const worker = pair.b.engine.connect();
    worker.register('fuzz::one');
    pair.b.serve.receive(mutatedBatch(random, random.pick(['fromWorker', 'toWorker'])));
    pair.b.engine.flush();
    // The engine still works.
    pair.a.reaches('fuzz::one');
    pair.b.engine.port.call({ functionId: 'fuzz::one', payload: Payload.ofText(rawJson(1)), depth: 0 }, () => {});
    pair.b.engine.flush();
    expect(worker.received('invokefunction').length).toBeGreaterThan(0);
  });
});
