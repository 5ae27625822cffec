import { afterAll, describe } from 'vitest';
import type { RabbitQueues } from '../../../src/modules/queue/adapters/rabbit/adapter.ts';
import { NO_RABBITMQ, newPrefix, removeBrokerQueues, startRabbitQueues } from '../../support/stores/rabbit-queues.ts';
import { queueContract } from './queue-contract.ts';

const prefix = newPrefix();
let adapter: RabbitQueues | undefined;

describe.skipIf(NO_RABBITMQ)(NO_RABBITMQ ?? 'on the RabbitMQ of the machine', () => {
  queueContract('RabbitMQ', {
    async create() {
      adapter ??= await startRabbitQueues({ prefix });
      return adapter;
    },
    cannot: {
      'idempotency keys': 'a broker has no index of keys',
      priorities: 'quorum queues have none',
      'groups side by side': 'one line, handed out one by one, is what keeps its order',
      'finding jobs': 'a queue can only be read from its front',
      'all or none': 'there is no step for several queues',
    },
  });
});

afterAll(async () => {
  if (adapter === undefined) return;
  const queues = (await adapter.stats()).map(({ queue }) => queue);
  await adapter.stop();
  await removeBrokerQueues(prefix, queues);
});
