// A worker that is stopped while the engine sends it more than it can ever read (fault test 29): the cost for the
// engine, measured from outside, and the effects on the others.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT } from '../../support/engine/test-engine.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';

const MIB = 1024 * 1024;
const BUFFER_BYTES_MAX = 2 * MIB;
const PAYLOAD = 'x'.repeat(8 * 1024);
const USUAL_CALLS = 10_000;
/** 160 MiB. */
const CALLS = 20_000;
const CALLS_IN_A_ROW = 500;
/** The difference between two floods in memory that is not collected yet. */
const NOISE_BYTES_MAX = 80 * MIB;

const YAML = `drain_timeout_ms: 100
limits: {trusted: {outbound_buffer_bytes: ${BUFFER_BYTES_MAX}, in_flight_per_worker: 100000}}
${ONE_PORT}`;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each([
  { transport: 'uws', form: 'json' },
  { transport: 'uws', form: 'binary' },
  { transport: 'ws', form: 'json' },
  { transport: 'ws', form: 'binary' },
])('a stopped worker of the $form form, on $transport', { timeout: 60_000 }, ({ transport, form }) => {
  test('[fault 29] [V1] costs only its buffer; others continue, and dropped calls are counted', async () => {
    const line = faultLine(
      '29',
      `stopped ${form} worker on ${transport}`,
      `MiB<${(BUFFER_BYTES_MAX + NOISE_BYTES_MAX) / MIB}`,
    );
    vi.stubEnv('SVC_TRANSPORT', transport);
    await using engine = await EngineProcess.start(YAML);
    await using stuck =
      form === 'json'
        ? await WorkerProcess.start(engine.url, 'restart::0', 'answers')
        : await WorkerProcess.startMany(engine.url, 1, 0);
    await using pair = await HealthyPair.start(engine.url);
    await using flooder = await RawWorker.connect(engine.url);
    // Its threads take memory from their start on.
    await flooder.call('engine::logs::list');
    let mostBytes = 0;
    const look = (): void => {
      mostBytes = Math.max(mostBytes, engine.rssBytes);
    };
    // The same calls are accepted first: calls that pass through and are not collected yet take memory too.
    await flood(flooder, USUAL_CALLS, look);
    const usualBytes = mostBytes;
    stuck.kill('SIGSTOP');
    expect(await pair.callUntil(flood(flooder, CALLS, look))).toBeGreaterThan(3);
    line.figure = `MiB=${Math.round((mostBytes - usualBytes) / MIB)}`;
    expect(mostBytes - usualBytes).toBeLessThan(BUFFER_BYTES_MAX + NOISE_BYTES_MAX);
    const { result } = await flooder.call('engine::health::check');
    const { counters } = (result as Health).components.router.details;
    expect(counters['invocations.void_dropped{OVERLOADED}']).toBeGreaterThan(CALLS / 2);
  });
});

interface Health {
  readonly components: { readonly router: { readonly details: { readonly counters: Record<string, number> } } };
}

/** That many fire-and-forget calls, as fast as the engine reads them. */
async function flood(caller: RawWorker, count: number, look: () => void): Promise<void> {
  for (let sent = 0; sent < count; sent += CALLS_IN_A_ROW) {
    for (let call = 0; call < CALLS_IN_A_ROW; call++) {
      caller.send({ type: 'invokefunction', function_id: 'restart::0', data: PAYLOAD, action: { type: 'void' } });
    }
    await caller.settled();
    look();
  }
}
