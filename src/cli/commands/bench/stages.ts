// What each kind of benchmark does: its setup, one operation, and its cleanup. Everything that it creates has the name
// of the run in its own name.

import { redactUrl } from '../../../core/config-fields/redaction.ts';
import { Void } from '../../../sdk/calls/actions.ts';
import { SvcError } from '../../../sdk/calls/errors.ts';
import type { TlsOptions } from '../../../sdk/worker/options.ts';
import type { SvcWorker } from '../../../sdk/worker/svc-worker.ts';
import { requester, type Send } from '../../engine/secure-request.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { formatDuration } from '../../text/times.ts';

export const KINDS = [
  'invoke',
  'void',
  'enqueue',
  'fifo',
  'state-set',
  'state-get',
  'state-update',
  'stream-set',
  'stream-fanout',
  'http',
  'cron',
] as const;
export type Kind = (typeof KINDS)[number];

/** The module that the engine needs for it; undefined when every engine can run it. */
export function moduleOf(kind: Kind): string | undefined {
  return MODULES.find(([start]) => kind.startsWith(start))?.[1];
}

const MODULES = [
  ['enqueue', 'svc-queue'],
  ['fifo', 'svc-queue'],
  ['state', 'svc-state'],
  ['stream', 'svc-stream'],
  ['http', 'svc-http'],
  ['cron', 'svc-cron'],
] as const;

export interface Bench {
  /** Unique to this run. */
  readonly name: string;
  readonly clients: readonly SvcWorker[];
  /** The workers that register the function `functionId`, unless the user named a function. */
  readonly workers: readonly SvcWorker[];
  readonly functionId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly subscribers: number;
  readonly httpUrl: string;
  readonly httpTls: TlsOptions | undefined;
  readonly streamUrl: string | undefined;
  /** Time limit for the answer of a server. */
  readonly timeoutMs: number;
  nowMs(): number;
}

export interface Outcome {
  readonly ops: number;
  /** Set when the measured time is not simply from the start of the operation to its end. */
  readonly tookMs?: number;
}

export interface Stage {
  once(client: number): Promise<Outcome>;
  clean(): Promise<void>;
}

export async function prepare(kind: Kind, bench: Bench): Promise<Stage> {
  return await STAGES[kind](bench);
}

const NOTHING_LEFT = async () => {};

const STAGES: Readonly<Record<Kind, (bench: Bench) => Promise<Stage>>> = {
  invoke: async (bench) => {
    const { functionId, payload } = bench;
    return {
      once: async (client) => done(await clientOf(bench, client).trigger({ function_id: functionId, payload })),
      clean: NOTHING_LEFT,
    };
  },
  void: async (bench) => {
    const call = { function_id: bench.functionId, payload: bench.payload, action: Void() };
    return { once: async (client) => done(await clientOf(bench, client).trigger(call)), clean: NOTHING_LEFT };
  },
  enqueue: (bench) => topicStage(bench, {}),
  fifo: (bench) => topicStage(bench, { type: 'fifo' }),
  'state-set': async (bench) => {
    const { name, payload } = bench;
    return {
      once: async (client) => done(await clientOf(bench, client).state.set(name, `${client}`, payload)),
      clean: () => deleteKeys(bench),
    };
  },
  'state-get': async (bench) => {
    const { name, payload, clients } = bench;
    await Promise.all(clients.map((client, index) => client.state.set(name, `${index}`, payload)));
    return {
      once: async (client) => done(await clientOf(bench, client).state.get(name, `${client}`)),
      clean: () => deleteKeys(bench),
    };
  },
  'state-update': async (bench) => {
    const ops = [{ type: 'increment', path: 'n', by: 1 }];
    const call = (client: number) => ({
      function_id: 'state::update',
      payload: { scope: bench.name, key: `${client}`, ops },
    });
    return {
      once: async (client) => done(await clientOf(bench, client).trigger(call(client))),
      clean: () => deleteKeys(bench),
    };
  },
  'stream-set': async (bench) => {
    const group = (client: number) => clientOf(bench, client).stream(bench.name).group(bench.name);
    return {
      once: async (client) => done(await group(client).set(`${client}`, bench.payload)),
      clean: async () => void (await Promise.all(bench.clients.map((_, client) => group(client).delete(`${client}`)))),
    };
  },
  'stream-fanout': fanoutStage,
  http: httpStage,
  cron: cronStage,
};

function clientOf({ clients }: Bench, index: number): SvcWorker {
  const client = clients[index];
  if (client === undefined) throw new Error(`There is no client ${index}`);
  return client;
}

function done(_answer: unknown): Outcome {
  return { ops: 1 };
}

async function deleteKeys(bench: Bench): Promise<void> {
  await Promise.all(
    bench.clients.map((client, index) =>
      client.trigger({ function_id: 'state::delete', payload: { scope: bench.name, key: `${index}` } }),
    ),
  );
}

/** Uses its own topic, because named queues come from the configuration. One operation ends when the job is on disk. */
async function topicStage(bench: Bench, queueConfig: object): Promise<Stage> {
  const { name: topic, payload: data, workers, functionId } = bench;
  const [worker] = workers;
  if (worker === undefined)
    throw usageFailure('--function cannot be used with queues: the benchmark registers its own subscriber.');
  const trigger = worker.registerTrigger({
    type: 'durable:subscriber',
    function_id: functionId,
    config: { topic, queue_config: queueConfig },
  });
  await worker.ready();
  const depth = async () => {
    const stats: unknown = await worker.trigger({ function_id: 'engine::queue::topic_stats', payload: { topic } });
    return typeof stats === 'object' && stats !== null && 'depth' in stats ? Number(stats.depth) : 0;
  };
  const publish = { function_id: 'svc::durable::publish', payload: { topic, data } };
  return {
    once: async (client) => done(await clientOf(bench, client).trigger(publish)),
    clean: async () => {
      while ((await depth()) > 0) await pause(50);
      trigger.unregister();
    },
  };
}

/** One operation is one event. It ends when the last subscriber has received it; each delivery counts. */
async function fanoutStage(bench: Bench): Promise<Stage> {
  const { name, subscribers, streamUrl, timeoutMs } = bench;
  const waiting = new Map<string, { left: number; resolve(): void }>();
  const onEvent = ({ type }: { readonly type: string }) => {
    const event = waiting.get(type);
    if (event === undefined || --event.left > 0) return;
    waiting.delete(type);
    event.resolve();
  };
  const watches = Array.from({ length: subscribers }, () =>
    clientOf(bench, 0)
      .stream(name)
      .group(name)
      .subscribe({ onEvent }, streamUrl === undefined ? {} : { url: streamUrl }),
  );
  // The stream server has its own port. Without a limit the subscribers would wait for it forever.
  const areThere = Promise.all(watches.map((watch) => watch.ready())).then(() => true);
  const isLate = new Promise<false>((resolve) => setTimeout(() => resolve(false), timeoutMs).unref());
  if (!(await Promise.race([areThere, isLate]))) throw streamsAway(streamUrl, timeoutMs);
  let sent = 0;
  return {
    once: async (client) => {
      const type = `e${sent++}`;
      const everywhere = new Promise<void>((resolve) => waiting.set(type, { left: subscribers, resolve }));
      await clientOf(bench, client).stream(name).group(name).send(type, bench.payload);
      await everywhere;
      return { ops: subscribers };
    },
    clean: async () => {
      for (const watch of watches) watch.close();
    },
  };
}

function streamsAway(streamUrl: string | undefined, timeoutMs: number): CliFailure {
  const address = streamUrl === undefined ? "port 3112 of the engine's host" : redactUrl(streamUrl);
  return new CliFailure({
    code: 'ENGINE_UNREACHABLE',
    message: `No stream server answers at ${address} within ${formatDuration(timeoutMs)}.`,
    exitCode: EXIT.unreachable,
    hint: 'Give its address: --stream-url ws://host:port',
  });
}

async function httpStage({ workers, functionId, name, httpUrl, httpTls, payload }: Bench): Promise<Stage> {
  const [worker] = workers;
  if (worker === undefined)
    throw usageFailure('--function cannot be used with http: the benchmark registers its own route.');
  const path = `/${name}`;
  const config = { api_path: path, http_method: 'POST' } as const;
  const trigger = worker.registerTrigger({ type: 'http', function_id: functionId, config });
  await worker.ready();
  const body = JSON.stringify(payload);
  const send = await requester(httpTls);
  return {
    once: async () => {
      const status = await post(send, new URL(path, httpUrl), body);
      if (status !== 200) throw new SvcError(`HTTP_${status}`, `The engine answered ${status}`);
      return { ops: 1 };
    },
    clean: async () => trigger.unregister(),
  };
}

async function post(send: Send, url: URL, body: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = send(url, { method: 'POST', headers });
    sent.once('response', (answer) => {
      answer.once('end', () => resolve(answer.statusCode ?? 0)).once('error', reject);
      answer.resume();
    });
    sent.once('error', ({ message }) => reject(new SvcError('UNREACHABLE', `Cannot reach ${url.origin}: ${message}`)));
    sent.end(body);
  });
}

/** One operation is one tick. Its latency is the delay after the scheduled second. */
async function cronStage({ workers, functionId, nowMs }: Bench): Promise<Stage> {
  const [worker] = workers;
  if (worker === undefined)
    throw usageFailure('--function cannot be used with cron: the benchmark registers its own schedule.');
  let onTick: (tookMs: number) => void = () => {};
  // Ticks are due at whole seconds.
  const tick = worker.registerFunction(`${functionId}-tick`, () => onTick(nowMs() % 1_000));
  const config = { expression: '* * * * * *' };
  const trigger = worker.registerTrigger({ type: 'cron', function_id: tick, config });
  await worker.ready();
  return {
    once: async () => ({
      ops: 1,
      tookMs: await new Promise<number>((resolve) => {
        onTick = resolve;
      }),
    }),
    clean: async () => {
      trigger.unregister();
      tick.unregister();
    },
  };
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
