// `svc config check --connect`: whether the ports of the file are free and its brokers answer.

import { createServer } from 'node:net';
import { type ClusterSettings, natsOf } from '../../../config/cluster-settings.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import type { LoadedModule } from '../../../config/module-entries.ts';
import { hostInUrl } from '../../../core/access/origin.ts';
import { redactUrl } from '../../../core/config-fields/redaction.ts';
import { rabbitAddresses } from '../../../core/queue/rabbit-address.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import type { Logger } from '../../../effects/logger.ts';

export interface ConnectFinding {
  /** Such as `port 127.0.0.1:3111`. */
  readonly what: string;
  readonly module: string;
  /** `undefined`: it is free, or answers. */
  readonly problem: string | undefined;
  readonly kind: 'port' | 'broker';
}

const ANSWER_MS_MAX = 5_000;

export async function connectFindings(config: LoadedConfig): Promise<ConnectFinding[]> {
  const findings = config.modules.flatMap((module) => [...portOf(module), ...brokerOf(module)]);
  const { cluster } = config.settings;
  if (cluster !== undefined) findings.push(linkFinding('cluster', nats, cluster));
  return await Promise.all(findings);
}

function portOf({ name, config }: LoadedModule): Promise<ConnectFinding>[] {
  const { host, port } = Object(config);
  if (typeof host !== 'string' || typeof port !== 'number') return [];
  const what = `port ${hostInUrl(host)}:${port}`;
  return [portProblem(host, port).then((problem) => ({ what, module: name, problem, kind: 'port' }))];
}

/** Port 0 is any free one. */
function portProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EADDRINUSE' ? 'another process listens on it' : error.message);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

interface Link {
  readonly address: string;
  readonly trouble: string | undefined;
  open(): Promise<void>;
  close(): unknown;
}

function brokerOf({ name: module, adapter, config }: LoadedModule): Promise<ConnectFinding>[] {
  if (module === 'svc-bridge') return [linkFinding(module, engine, config)];
  if (adapter === undefined) return [];
  if (adapter.name === 'rabbitmq') {
    return rabbitAddresses(Object(adapter.config).amqp_url).map((node) => linkFinding(module, rabbit, node));
  }
  const makers: Readonly<Record<string, (config: unknown) => Promise<Link>>> = { extstore: redis, bridge: engine };
  const make = Object.hasOwn(makers, adapter.name) ? makers[adapter.name] : undefined;
  return make === undefined ? [] : [linkFinding(module, make, adapter.config)];
}

async function linkFinding<Config>(
  module: string,
  make: (config: Config) => Promise<Link>,
  config: Config,
): Promise<ConnectFinding> {
  const link = await make(config);
  const opened = link.open().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const problem = await Promise.race([opened, lateAnswer(systemClock, link)]);
  await link.close();
  return { what: `broker ${link.address}`, module, problem, kind: 'broker' };
}

function lateAnswer(clock: Pick<Clock, 'after'>, link: Link): Promise<string> {
  return new Promise((resolve) => {
    clock.after(ANSWER_MS_MAX, () => resolve(link.trouble ?? `no answer within ${ANSWER_MS_MAX / 1000} s`));
  });
}

async function redis(config: unknown): Promise<Link> {
  const [{ RedisLink }, { redisUrl }] = await Promise.all([
    import('../../../effects/redis.ts'),
    import('../../../modules/adapter-settings.ts'),
  ]);
  return new RedisLink({ url: redisUrl(Object(config)), purpose: 'check', clock: systemClock, logger: SILENT });
}

async function rabbit(node: string): Promise<Link> {
  const { RabbitLink } = await import('../../../effects/rabbitmq.ts');
  return new RabbitLink({ urls: [node], purpose: 'check', clock: systemClock, logger: SILENT, onUp: () => {} });
}

async function nats(cluster: ClusterSettings): Promise<Link> {
  const { NatsConnection } = await import('../../../effects/nats/connection.ts');
  const { prefix } = cluster;
  const names = { name: 'svc config check', inboxPrefix: `_INBOX_${prefix}`, openMsMax: ANSWER_MS_MAX };
  let connection: { close(): Promise<void> } | undefined;
  return {
    address: cluster.nats.servers.map(redactUrl).join(', '),
    trouble: undefined,
    async open() {
      connection = await NatsConnection.open({ ...natsOf(cluster), ...names, clock: systemClock, logger: SILENT });
    },
    close: () => connection?.close(),
  };
}

/** The engine of a bridge. */
async function engine(config: unknown): Promise<Link> {
  const { EngineLink } = await import('../../../effects/engine-link.ts');
  const { url, bridge_url: address = url, token } = Object(config);
  let isUp = (): void => {};
  const opened = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  const parts = { url: address, token, name: 'svc config check', version: '', clock: systemClock, logger: SILENT };
  const link = new EngineLink({ ...parts, onUp: () => isUp(), onCall: () => {} });
  return {
    address: link.address,
    get trouble() {
      return link.trouble;
    },
    open() {
      link.start();
      return opened;
    },
    close: () => link.close(),
  };
}

/** The findings say it all. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
