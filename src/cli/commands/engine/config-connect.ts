// `svc config check --connect`: whether the ports of the file are free and its brokers answer.

import { createServer } from 'node:net';
import type { LoadedConfig } from '../../../config/load.ts';
import type { LoadedModule } from '../../../config/module-entries.ts';
import { hostInUrl } from '../../../core/access/origin.ts';
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

function brokerOf({ name: module, adapter }: LoadedModule): Promise<ConnectFinding>[] {
  if (adapter === undefined) return [];
  const makers: Readonly<Record<string, (config: unknown) => Promise<Link>>> = { extstore: redis, rabbitmq: rabbit };
  const make = Object.hasOwn(makers, adapter.name) ? makers[adapter.name] : undefined;
  return make === undefined ? [] : [linkFinding(module, make, adapter.config)];
}

async function linkFinding(
  module: string,
  make: (config: unknown) => Promise<Link>,
  config: unknown,
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

async function rabbit(config: unknown): Promise<Link> {
  const { RabbitLink } = await import('../../../effects/rabbitmq.ts');
  const { amqp_url: url } = Object(config);
  return new RabbitLink({ url, purpose: 'check', clock: systemClock, logger: SILENT, onUp: () => {} });
}

/** The findings say it all. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
