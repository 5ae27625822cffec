// Faults 23 and 25: connections that end in stages, and two workers that look like the same one to all others.

import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { http, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { waitFor } from '../../support/wait-for.ts';

const CUTS = rounds(4) === 4 ? 4 : 5 * rounds(4);
/** How long the engine treats a connection as alive after its worker is gone. */
const HELD_MS_MAX = 2_000;
const BACK_MS_MAX = 30_000;
const FUNCTIONS = ['staged::page', 'staged::other'];

/** A worker behind a proxy that reconnects after each cut with all of its registrations. */
interface Returning extends AsyncDisposable {
  /** Resolves when it has registered everything again. */
  back(): Promise<void>;
}

/** It proves whose successor it is, so the engine ends the old connection at once. */
async function withReattach(url: string): Promise<Returning> {
  const svc = registerWorker(url, { handle_signals: false, drain_timeout_ms: 0, worker_name: 'staged' });
  const page = svc.registerFunction('staged::page', () => ({ body: 'here' }));
  const all = [
    page,
    svc.registerFunction('staged::other', () => 1),
    svc.registerTrigger({ ...http('GET', '/staged'), function_id: page }),
    svc.registerTrigger({ type: 'engine::functions-available', function_id: 'staged::other', config: {} }),
  ];
  let returns = 0;
  svc.on('reconnected', () => returns++);
  await Promise.all(all.map((one) => one.ready()));
  let seen = 0;
  return {
    async back() {
      await waitFor('the worker has reconnected', () => returns > seen, BACK_MS_MAX);
      seen = returns;
      await Promise.all(all.map((one) => one.ready()));
    },
    [Symbol.asyncDispose]: () => svc.shutdown(),
  };
}

/** It reconnects, next to a connection of its own that the engine takes for alive. */
async function withoutReattach(url: string): Promise<Returning> {
  const connect = async (): Promise<RawWorker> => {
    const worker = await RawWorker.connect(url);
    await worker.serve('staged::page', () => ({ body: 'here' }));
    await worker.serve('staged::other', () => 1);
    const page = { id: 'page', trigger_type: 'http', function_id: 'staged::page', config: PAGE };
    worker.send({ type: 'registertrigger', ...page });
    const watch = {
      id: 'watch',
      trigger_type: 'engine::functions-available',
      function_id: 'staged::other',
      config: {},
    };
    worker.send({ type: 'registertrigger', ...watch });
    await worker.settled();
    return worker;
  };
  let worker = await connect();
  return {
    async back() {
      await worker.closed;
      worker = await connect();
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

const PAGE = { api_path: '/staged', http_method: 'GET' };

test.each([
  ['a reattach', withReattach],
  ['no reattach', withoutReattach],
])(
  '[fault 23] [W3] [H1] After staged cuts of a worker with %s nothing of it is missing, and no route was',
  {
    timeout: 60_000 + CUTS * BACK_MS_MAX,
  },
  async (kind, start) => {
    const line = faultLine('23', `staged cuts with ${kind}`, 'missing=0,404=0');
    const random = faultRandom('23');
    await using engine = await startHttpEngine();
    await using proxy = await CutProxy.start(engine.port);
    await using worker = await start(proxy.url);
    await using caller = await RawWorker.connect(engine.url);
    const visits = visit(engine);
    const everything = await inventory(caller);
    for (let cut = 1; cut <= CUTS; cut++) {
      const heldMs = random.below(HELD_MS_MAX);
      proxy.cutWorkers();
      const released = wait(heldMs).then(() => proxy.dropHeld());
      await Promise.all([worker.back(), released]);
      // The end of the old connection has been seen: from here on nothing may change any more.
      await waitFor('only one is left', async () => (await connectionsOf(caller)) === CONNECTIONS, BACK_MS_MAX);
      expect(await inventory(caller), `after cut ${cut}, held for ${heldMs} ms`).toEqual(everything);
      expect((await caller.call('staged::other')).result).toBe(1);
      expect(await (await fetch(`${engine.httpUrl}/staged`)).json()).toBe('here');
    }
    const statuses = await visits.end();
    line.figure = `missing=0,404=${statuses.get(404) ?? 0}`;
    expect([...statuses.keys()].filter((status) => ![200, 502, 503].includes(status))).toEqual([]);
  },
);

/** A connection that registers nothing is not in the list. */
const CONNECTIONS = 1;

async function connectionsOf(caller: RawWorker): Promise<number> {
  const { result } = await caller.call('engine::workers::list');
  const { workers } = result as { workers: { status: string; id: string }[] };
  return workers.filter(({ id }) => /^[0-9a-f]{8}-/.test(id)).length;
}

/** Functions with the number of their workers, and triggers with their state. */
async function inventory(caller: RawWorker) {
  const infos = FUNCTIONS.map(async (id) => (await caller.call('engine::functions::info', { function_id: id })).error);
  const { result } = await caller.call('engine::registered-triggers::list');
  const { registered_triggers: rows } = result as { registered_triggers: Record<string, unknown>[] };
  return {
    errors: await Promise.all(infos),
    triggers: rows.map(({ trigger_type, function_id, status }) => ({ trigger_type, function_id, status })),
  };
}

/** Requests the page continuously; returns how often each status came. */
function visit({ httpUrl }: HttpEngine) {
  const statuses = new Map<number, number>();
  let isOver = false;
  const visiting = (async () => {
    while (!isOver) {
      const answer = await fetch(`${httpUrl}/staged`);
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      await wait(1);
    }
    return statuses;
  })();
  visiting.catch(() => {});
  return {
    end() {
      isOver = true;
      return visiting;
    },
  };
}

test('[fault 25] [W3] Of two workers with one name and one id the one that flaps never costs the other its place', {
  timeout: 60_000 + CUTS * BACK_MS_MAX,
}, async () => {
  const line = faultLine('25', 'twins', 'evicted=0,without a worker=0');
  await using engine = await startTestEngine();
  await using proxy = await CutProxy.start(engine.port);
  await using caller = await RawWorker.connect(engine.url);
  const twins: SvcWorker[] = [];
  const start = async (url: string): Promise<SvcWorker> => {
    const svc = registerWorker(url, { handle_signals: false, drain_timeout_ms: 0, worker_name: 'twin' });
    twins.push(svc);
    await svc.registerFunction('twin::hello', () => 'hello').ready();
    return svc;
  };
  try {
    const steady = await start(engine.url);
    const flapping = await start(proxy.url);
    let evictions = 0;
    let returns = 0;
    steady.on('disconnected', () => evictions++);
    flapping.on('reconnected', () => returns++);
    const answers = new Map<string, number>();
    for (let cut = 1; cut <= CUTS; cut++) {
      proxy.cut();
      while (returns < cut) {
        const { error } = await caller.call('twin::hello');
        const answer = error === undefined ? 'hello' : String((error as { code: string }).code);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    }
    line.figure = `evicted=${evictions},without a worker=${answers.get('function_not_found') ?? 0}`;
    expect(evictions).toBe(0);
    // A call of the flapping worker fails with that error; no call finds no worker.
    expect([...answers.keys()].filter((answer) => !['hello', 'invocation_stopped'].includes(answer))).toEqual([]);
    expect(answers.get('hello')).toBeGreaterThan(0);
  } finally {
    await Promise.all(twins.map((twin) => twin.shutdown()));
  }
});
