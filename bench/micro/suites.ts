// The steps of one call, each alone. `npm run bench:micro` measures them; `test/unit/bench.test.ts` runs each a few
// times, so that none of them rots. Every step returns a number that depends on its work.

import { CallTable } from '../../src/core/call-table.ts';
import type { Executor } from '../../src/core/executor.ts';
import { selectWorker } from '../../src/core/select-worker.ts';
import { rawJson } from '../../src/protocol/byte-string.ts';
import { decodeWorkerFrame } from '../../src/protocol/decode.ts';
import { encodeEngineFrame } from '../../src/protocol/encode.ts';
import { makePayload } from '../support/part.ts';

export interface Step {
  readonly name: string;
  run(): number;
}

const ID = '00000000-aaaa-4bbb-8ccc-000000000000';

export function steps(): Step[] {
  return [100, 1024, 16 * 1024].flatMap((bytes) => frameSteps(bytes)).concat(choosing(1), choosing(16), callStep());
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

function choosing(workers: number): Step {
  const executors = Array.from({ length: workers }, (_, index) => executor(index));
  const candidates = { executors, next: 0 };
  return {
    name: `choose among ${workers} worker${workers === 1 ? '' : 's'}`,
    run: () => selectWorker(candidates, 'least_in_flight')?.generation ?? 0,
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

function executor(generation: number): Executor {
  return { generation: generation + 1, inFlight: generation % 3, inFlightMax: 1024, isAccepting: true };
}
