// The steps of one call, each separately. `npm run bench:micro` measures them, and `test/unit/bench.test.ts` runs each
// a few times to show that it works. Every step returns a number that depends on its work.

import { CallTable } from '../../src/core/calls/call-table.ts';
import { type Executor, selectWorker } from '../../src/core/calls/select-worker.ts';
import { decodeWorkerFrame } from '../../src/protocol/frames/decode.ts';
import { encodeEngineFrame } from '../../src/protocol/frames/encode.ts';
import { rawJson } from '../../src/protocol/json/byte-string.ts';
import { CompactDecoder } from '../../src/protocol/payload/compact-decode.ts';
import { CompactEncoder } from '../../src/protocol/payload/compact-encode.ts';
import { MessagePackForm } from '../../src/protocol/payload/message-pack.ts';
import { readShape, type Shape } from '../../src/protocol/payload/shape.ts';
import { nodeMemory } from '../../src/sdk/node/memory-node.ts';
import { makePayload } from '../support/part.ts';

export interface Step {
  readonly name: string;
  run(): number;
}

const ID = '00000000-aaaa-4bbb-8ccc-000000000000';

export function steps(): Step[] {
  const sizes = [100, 1024, 16 * 1024];
  return [
    ...sizes.flatMap((bytes) => frameSteps(bytes)),
    ...sizes.flatMap((bytes) => payloadSteps(`an order, ${bytes} B`, makePayload(bytes))),
    ...payloadSteps('6 rows of a table', makeRows(6)),
    ...payloadSteps('100 rows of a table', makeRows(100)),
    ...payloadSteps('a text, 1024 B', makeText(1024)),
    choosing(1),
    choosing(16),
    callStep(),
  ];
}

function frameSteps(bytes: number): Step[] {
  const payload = makePayload(bytes);
  const text = JSON.stringify({
    type: 'invokefunction',
    invocation_id: ID,
    function_id: 'bench::echo',
    data: payload,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  });
  const frame = new Uint8Array(Buffer.from(text));
  const data = rawJson(payload);
  return [
    { name: `baseline: JSON.parse of the frame, ${bytes} B`, run: () => Object.keys(JSON.parse(text)).length },
    { name: `decode an invoke frame, ${bytes} B`, run: () => decodeWorkerFrame(frame).type.length },
    {
      name: `encode an invoke frame, ${bytes} B`,
      run: () =>
        encodeEngineFrame({ type: 'invokefunction', invocation_id: ID, function_id: 'bench::echo', data }).length,
    },
  ];
}

/** Writes a payload into the memory of a message and reads it, in every form. */
function payloadSteps(name: string, value: unknown): Step[] {
  const memory = Buffer.allocUnsafeSlow(64 * 1024);
  const shapes: Shape[] = [];
  const asked: string[] = [];
  const encoder = new CompactEncoder(nodeMemory, (keyList) => asked.push(keyList));
  const decoder = new CompactDecoder(nodeMemory, (number) => shapes[number]);
  const writeCompact = (): number => {
    encoder.release();
    const payload = encoder.encode(value);
    if (payload === undefined) throw new Error(`${name} has no compact form`);
    nodeMemory.copy(encoder.memory, payload.start, payload.start + payload.length, memory, 0);
    return payload.length;
  };
  // The encoder uses shape numbers from the second time on.
  for (let round = 0; round < 2; round++) writeCompact();
  for (const keyList of asked) {
    const shape = readShape(keyList);
    if (shape !== undefined) encoder.learn(shape, shapes.push(shape) - 1);
  }
  const compact = Buffer.from(memory.subarray(0, writeCompact()));
  const text = Buffer.from(JSON.stringify(value));
  const messagePack = new MessagePackForm();
  const packed = messagePack.write(value) ?? Buffer.alloc(0);
  return [
    { name: `write JSON: ${name}`, run: () => memory.write(JSON.stringify(value)) },
    { name: `write compact: ${name}`, run: writeCompact },
    { name: `read JSON: ${name}`, run: () => weigh(JSON.parse(text.toString('utf8'))) },
    { name: `read compact: ${name}`, run: () => weigh(decoder.decode(compact, 0, compact.length)) },
    { name: `write MessagePack: ${name}`, run: () => messagePack.write(value)?.length ?? 0 },
    { name: `MessagePack to JSON text: ${name}`, run: () => messagePack.textOf(packed, 0, packed.length)?.length ?? 0 },
  ];
}

function weigh(value: unknown): number {
  return Object.keys(value as object).length;
}

function makeRows(count: number): unknown {
  const rows: object[] = [];
  for (let at = 1; at <= count; at++) {
    const address = { street: `Main Street ${at}`, zip: '12345', city: 'Springfield' };
    const score = Math.round(1e6 / at) / 100;
    rows.push({
      id: `usr_${at * 7919}`,
      email: `person${at}@example.com`,
      active: at % 2 === 0,
      score,
      address,
      tags: ['a'],
    });
  }
  return rows;
}

function makeText(bytes: number): unknown {
  const sentence = 'The quick brown fox jumps over the lazy dog, again and again, until evening. ';
  const article = { title: 'Hello "world"', author: { name: 'Jane Doe', mail: 'jane@example.com' }, body: '' };
  return { ...article, body: sentence.repeat((bytes - JSON.stringify(article).length) / sentence.length) };
}

function choosing(workers: number): Step {
  const executors = Array.from({ length: workers }, (_, index) => executor(index));
  const candidates = { executors, next: 0 };
  return {
    name: `choose among ${workers} worker${workers === 1 ? '' : 's'}`,
    run: () => selectWorker(candidates, 'least_in_flight')?.inFlightMax ?? 0,
  };
}

function callStep(): Step {
  const calls = new CallTable<Executor, null>('aaaa-4bbb-8ccc');
  const worker = executor(1);
  let nowMs = 0;
  return {
    name: 'open, find and settle a call',
    run() {
      nowMs += 0.01;
      const opened = calls.open({
        functionId: 'f',
        executor: worker,
        origin: null,
        originRef: '1',
        nowMs,
        timeoutMs: 30_000,
      });
      const found = calls.find(opened.id, worker);
      if (found === undefined) throw new Error('An open call was not found');
      calls.settle(found);
      return found.slot + 1;
    },
  };
}

function executor(index: number): Executor {
  return { inFlight: index % 3, inFlightMax: 1024, isAccepting: true };
}
