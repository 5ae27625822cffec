// Fault 54: an engine with a small heap, and its limits driven to their edges, one after the other. What does not fit
// is refused, dropped or paged; the process survives.

import { expect, test } from 'vitest';
import { Enqueue, http, registerWorker, type SvcWorker, Void } from '../../../src/sdk/index.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS } from '../../support/load/fault-tools.ts';
import { within } from '../../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
/** How often all limits are driven to their edges. */
const TURNS = IS_LONG ? FAULT_ROUNDS : 1;
const HEAP_MIB = 256;
const MIB = 1024 * 1024;
const CALL_MS_MAX = 60_000;
const DRIVE_MS_MAX = 240_000;

interface Driven {
  readonly engine: EngineProcess;
  readonly httpPort: number;
  readonly streams: string;
  readonly connect: () => SvcWorker;
}

type Drive = (driven: Driven) => Promise<void>;

/** It does not matter here whether it is done or refused. */
async function attempt(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  await Promise.allSettled(Array.from({ length: count }, (_, index) => one(index)));
}

const DRIVES: Readonly<Record<string, Drive>> = {
  async 'frames of 15 MiB'({ connect }) {
    const worker = connect();
    const echo = worker.registerFunction('edge::echo', (text: string) => text);
    await echo.ready();
    const text = 'x'.repeat(15 * MIB);
    await attempt(8, () => connect().trigger({ function_id: 'edge::echo', payload: text }));
  },
  async 'workers that stop reading'({ engine, connect }) {
    const stuck = await Promise.all(
      [0, 1, 2].map((n) => WorkerProcess.start(engine.url, `edge::stuck${n}`, 'answers')),
    );
    for (const worker of stuck) worker.kill('SIGSTOP');
    const caller = connect();
    const payload = 'x'.repeat(32 * 1024);
    await attempt(4_500, (index) =>
      caller.trigger({ function_id: `edge::stuck${index % 3}`, payload, action: Void() }),
    );
    await caller.trigger({ function_id: 'engine::health::check' });
    for (const worker of stuck) await worker[Symbol.asyncDispose]();
  },
  async 'calls in flight'({ connect }) {
    const workers = Array.from({ length: 8 }, connect);
    await Promise.all(
      workers.map((worker) => worker.registerFunction('edge::hang', () => new Promise(() => {})).ready()),
    );
    const payload = 'x'.repeat(1_024);
    const callers = [connect(), connect(), connect()];
    await attempt(12_000, (index) =>
      (callers[index % 3] ?? connect()).trigger({ function_id: 'edge::hang', payload, timeout_ms: 2_000 }),
    );
  },
  async 'functions and triggers of one worker'({ connect }) {
    const worker = connect();
    worker.on('rejected', () => {});
    const some = Array.from({ length: 5_100 }, (_, index) => worker.registerFunction(`edge::f${index}`, () => index));
    await attempt(some.length, async (index) => {
      const function_id = `edge::f${index}`;
      worker.registerTrigger({ type: 'subscribe', function_id, config: { topic: `edge.${index}` } });
      await some[index]?.ready();
    });
  },
  async 'values of 4 MiB, and their list'({ connect }) {
    const caller = connect();
    const text = 'x'.repeat(4 * MIB - 64);
    await attempt(24, (index) => caller.state.set('edge', `k${index}`, text));
    await attempt(4, () => caller.trigger({ function_id: 'state::list', payload: { scope: 'edge' } }));
    await attempt(24, (index) =>
      caller.trigger({ function_id: 'state::delete', payload: { scope: 'edge', key: `k${index}` } }),
    );
  },
  async 'jobs of 1 MiB'({ connect }) {
    const worker = connect();
    const action = Enqueue({ queue: 'default' });
    const payload = 'x'.repeat(MIB - 64);
    await attempt(150, () => worker.trigger({ function_id: 'edge::job', payload, action }));
    await worker.registerFunction('edge::job', () => null).ready();
    await attempt(20, () => worker.trigger({ function_id: 'engine::queue::jobs', payload: { queue: 'default' } }));
  },
  async 'log records of 16 KiB'({ connect }) {
    const caller = connect();
    const message = 'x'.repeat(16 * 1024);
    await attempt(12_000, (index) =>
      caller.trigger({ function_id: 'engine::log::info', payload: { message, data: { index } }, action: Void() }),
    );
    await attempt(4, () => caller.trigger({ function_id: 'engine::logs::list', payload: { limit: 1_000 } }));
  },
  async 'histories of streams'({ connect, streams }) {
    const caller = connect();
    const lazy = await Promise.all(Array.from({ length: 10 }, () => StreamClient.connect(streams, '/stream/edge/g0')));
    for (const { socket } of lazy) socket.pause();
    const data = 'x'.repeat(64 * 1024);
    await attempt(1_500, (index) =>
      caller
        .stream('edge')
        .group(`g${index % 50}`)
        .set(`i${index % 20}`, data),
    );
    for (const client of lazy) await client[Symbol.asyncDispose]();
  },
  async 'HTTP bodies of 4 MiB'({ connect, httpPort }) {
    const worker = connect();
    const page = worker.registerFunction('edge::page', ({ body }: { body: unknown }) => ({ body }));
    await worker.registerTrigger({ ...http('POST', '/edge'), function_id: page }).ready();
    const body = JSON.stringify('x'.repeat(4 * MIB - 64));
    await attempt(40, async () => {
      const answer = await fetch(`http://127.0.0.1:${httpPort}/edge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await answer.arrayBuffer();
    });
  },
};

test('[fault 54] With 256 MiB of heap no limit that is driven to its edge ends the engine', {
  timeout: 60_000 + TURNS * DRIVE_MS_MAX * Object.keys(DRIVES).length,
}, async () => {
  const line = faultLine('54', 'memory ceiling', 'exits=0');
  using folder = new TemporaryFolder();
  await using engine = await EngineProcess.start(yamlIn(folder.path), { heapMib: HEAP_MIB });
  const [url = '', streams = ''] = engine.urls;
  const httpPort = Number(new URL(/http:\/\/\S+:\d+/.exec(engine.stderr)?.[0] ?? '').port);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, drive] of Object.entries(DRIVES)) {
      const clients: SvcWorker[] = [];
      const connect = (): SvcWorker => {
        const options = { handle_signals: false, drain_timeout_ms: 0, timeout_ms: CALL_MS_MAX, log: () => {} };
        const client = registerWorker(url, options);
        clients.push(client);
        return client;
      };
      line.figure = `exits=1 (${name})`;
      await Promise.race([
        within(DRIVE_MS_MAX, `the edge is reached: ${name}`, drive({ engine, httpPort, streams, connect })),
        engine.ended.then(({ code, signal }) => {
          throw new Error(`At its edge '${name}' the engine ended with ${code ?? signal}:\n${engine.stderr}`);
        }),
      ]);
      await Promise.all(clients.map((client) => client.shutdown()));
      const rssMib = Math.round(engine.rssBytes / MIB);
      process.stdout.write(`54 ${name}: ${rssMib} MiB resident\n`);
      await answersAgain(url);
    }
  }
  line.figure = 'exits=0';
});

async function answersAgain(url: string): Promise<void> {
  const caller = registerWorker(url, { handle_signals: false, drain_timeout_ms: 0, timeout_ms: CALL_MS_MAX });
  try {
    const health = await caller.trigger({ function_id: 'engine::health::check' });
    expect(health).toHaveProperty('status');
  } finally {
    await caller.shutdown();
  }
}

function yamlIn(folder: string): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {file_path: ${folder}}}}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder}}}}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {file_path: ${folder}}}}}
  - {name: svc-pubsub}
  - {name: svc-observability, config: {enabled: true, exporter: memory, logs_enabled: true}}
`;
}
