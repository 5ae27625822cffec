// The adapter `rabbitmq` of queues, on the RabbitMQ of the machine, with its own queues, which are removed afterwards.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { Connection } from 'rabbitmq-client';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { RabbitLink } from '../../../src/effects/rabbitmq.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import { RabbitQueues } from '../../../src/modules/queue/adapters/rabbit/adapter.ts';
import { BrokerNames, RUNGS } from '../../../src/modules/queue/adapters/rabbit/topology.ts';

/** Shared by all tests: use only queues with a prefix of the test. */
export const SHARED_RABBITMQ = process.env.SVC_TEST_RABBITMQ ?? 'amqp://guest:guest@127.0.0.1:5672';

/** Why tests that need a RabbitMQ cannot run here; `undefined` if they can. On CI they must run. */
export const NO_RABBITMQ =
  process.env.CI !== undefined || (await takesConnections())
    ? undefined
    : 'skipped: there is no RabbitMQ at 127.0.0.1:5672 (Debian: apt-get install rabbitmq-server, or SVC_TEST_RABBITMQ)';

export function newPrefix(): string {
  return `t${randomUUID().slice(0, 8)}`;
}

export interface RabbitQueuesSetup {
  readonly url?: string;
  readonly prefix: string;
  readonly log?: string[];
  readonly consumerTimeoutMs?: number;
  readonly changed?: (queue: string) => void;
  /** In place of the engine's own. */
  readonly Link?: typeof RabbitLink;
}

export async function startRabbitQueues(setup: RabbitQueuesSetup): Promise<RabbitQueues> {
  const { url = SHARED_RABBITMQ, prefix, log = [], consumerTimeoutMs = 1_800_000, changed = () => {} } = setup;
  const { Link = RabbitLink } = setup;
  const clock = systemClock;
  const logger = createLogger({ level: 'debug', format: 'default', clock, write: (line) => void log.push(line) });
  const adapter = new RabbitQueues({
    createLink: async (purpose, onUp) => new Link({ urls: [url], purpose, clock, logger, onUp }),
    prefix,
    consumerTimeoutMs,
    clock,
    random: systemRandom,
    logger,
  });
  await adapter.start(changed);
  return adapter;
}

/** All that the adapter declared for these queues. */
export async function removeBrokerQueues(prefix: string, queues: readonly string[]): Promise<void> {
  const names = new BrokerNames(prefix);
  const rungs = Array.from({ length: RUNGS }, (_, index) => names.rung(index));
  const connection = new Connection(SHARED_RABBITMQ);
  const channel = await connection.acquire();
  const declared = queues.flatMap((queue) => [names.work(queue), names.parked(queue), names.dead(queue)]);
  for (const queue of [...declared, ...rungs, names.registry]) await channel.queueDelete(queue);
  for (const exchange of [...rungs, names.rung(-1)]) await channel.exchangeDelete({ exchange });
  await channel.close();
  await connection.close();
}

function takesConnections(): Promise<boolean> {
  const { hostname, port } = new URL(SHARED_RABBITMQ);
  return new Promise((resolve) => {
    const socket = connect(Number(port || 5672), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
