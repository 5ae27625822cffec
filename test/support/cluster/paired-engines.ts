// Two engines of one cluster in place of the one that a test asks for (`npm run test:cluster`): connections go to them in
// turn, so that a caller and the worker that it calls are on different engines.

import { createHash, randomUUID } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { RawWorker } from '../clients/raw-worker.ts';
import { SHARED_REDIS } from '../stores/redis-server.ts';
import { waitFor } from '../wait-for.ts';
import { NatsServer, NO_NATS_SERVER } from './nats-server.ts';

/** `npm run test:cluster` sets it. Without a NATS the tests have one engine. */
export const IS_PAIRED = process.env.SVC_TEST_CLUSTER !== undefined && NO_NATS_SERVER === undefined;

interface Entry {
  readonly name?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

interface Configuration {
  readonly cluster?: unknown;
  readonly bridge_token?: unknown;
  readonly workers?: readonly Entry[];
}

/** What keeps data; the engines of a cluster keep it in a Redis. */
const KEEPERS: readonly string[] = ['svc-state', 'svc-stream', 'svc-queue'];

export interface PairSetup {
  readonly nats: NatsServer;
  /** The configurations of the two engines. */
  readonly yamls: readonly [string, string];
}

/** `undefined`: the configuration is for one engine. */
export async function pairOf(yaml: string): Promise<PairSetup | undefined> {
  const given: Configuration = parse(yaml) ?? {};
  if (given.cluster !== undefined || given.bridge_token !== undefined || !Array.isArray(given.workers))
    return undefined;
  const workers = given.workers.map(sharing);
  // What watches the engines is a worker like any other: it needs a port without rights.
  const port = given.workers.find(({ name }) => name === 'svc-worker-manager');
  if (workers.includes(undefined) || port?.config?.rbac !== undefined) return undefined;
  const nats = await NatsServer.start();
  const cluster = { nats: { servers: [nats.url] }, prefix: prefixOf(foldersIn(given.workers)) };
  const ofA = { ...given, cluster, workers };
  const ofB = { ...ofA, workers: workers.map((entry) => entry && atFreePort(entry)) };
  return { nats, yamls: [stringify(ofA), stringify(ofB)] };
}

/** The entry with its data in the Redis; `undefined`: it cannot be shared. */
function sharing(entry: Entry): Entry | undefined {
  const { name = '', config = {} } = entry;
  if (!KEEPERS.includes(name)) return entry;
  const given = adapterOf(config.adapter);
  if (!['kv', 'builtin'].includes(given.name)) return given.name === 'extstore' ? entry : undefined;
  const keyPrefix = `svc-test:${prefixOf(given.folder)}:`;
  const adapter = { name: 'extstore', config: { extstore_url: SHARED_REDIS, key_prefix: keyPrefix } };
  return { ...entry, config: { ...config, adapter } };
}

function adapterOf(adapter: unknown): { readonly name: string; readonly folder: string | undefined } {
  const { name = 'kv', config = {} } = Object(adapter);
  return { name, folder: Object(config).file_path };
}

/** The same for engines that were given the same folder, so that one can be started again. */
function prefixOf(folder: string | undefined): string {
  return `t${(folder === undefined ? randomUUID() : createHash('sha256').update(folder).digest('hex')).slice(0, 12)}`;
}

function foldersIn(workers: readonly Entry[]): string | undefined {
  return workers.map(({ config }) => adapterOf(config?.adapter).folder).find((folder) => folder !== undefined);
}

function atFreePort(entry: Entry): Entry {
  return entry.config?.port === undefined ? entry : { ...entry, config: { ...entry.config, port: 0 } };
}

/** What the watchers ask is no trace of the test. */
const UNTRACED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' };
const AGREED_MS_MAX = 1_000;

export class Pair {
  static readonly #open = new Set<Pair>();
  readonly #watchers: readonly RawWorker[];

  private constructor(watchers: readonly RawWorker[]) {
    this.#watchers = watchers;
    Pair.#open.add(this);
  }

  /** Resolves when the two engines reach each other. */
  static async of(urls: readonly [string, string]): Promise<Pair> {
    const watchers = await Promise.all(urls.map((url) => RawWorker.connect(url)));
    await waitFor('the engines reach each other', async () => {
      const answers = await Promise.all(
        watchers.map((watcher) => watcher.call('engine::cluster::status', {}, UNTRACED)),
      );
      return answers.every(({ result }) =>
        Object(result).engines.some(({ status }: { status: string }) => status === 'up'),
      );
    });
    return new Pair(watchers);
  }

  /** Resolves when each engine lists what the other one does. */
  static async allAgree(): Promise<void> {
    await Promise.all([...Pair.#open].map((pair) => pair.#agree()));
  }

  /** Gives up after a while: what belongs to one engine alone is not listed by both. */
  async #agree(): Promise<void> {
    await waitFor('the engines list the same', async () => await this.#isAgreed(), AGREED_MS_MAX).catch(() => {});
  }

  async #isAgreed(): Promise<boolean> {
    const [one, other] = await Promise.all(this.#watchers.map((watcher) => registered(watcher)));
    return one === other;
  }

  end(): void {
    Pair.#open.delete(this);
    for (const watcher of this.#watchers) watcher.socket.terminate();
  }
}

interface ListedTrigger {
  readonly trigger_type: string;
  readonly function_id: string;
  readonly config: unknown;
  readonly status: string;
}

async function registered(watcher: RawWorker): Promise<string> {
  const { result: functions } = await watcher.call('engine::functions::list', {}, UNTRACED);
  const { result: triggers } = await watcher.call('engine::registered-triggers::list', {}, UNTRACED);
  const ids: string[] = Object(functions).functions.map((row: { function_id: string }) => row.function_id);
  const listed: readonly ListedTrigger[] = Object(triggers).registered_triggers;
  const bound = listed
    .filter(({ status }) => status !== 'Error')
    .map(({ trigger_type, function_id, config }) => JSON.stringify([trigger_type, function_id, config]));
  return JSON.stringify([ids, bound.sort()]);
}
