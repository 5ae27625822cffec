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
    // A queue can only be read from its front, a broker has no index of keys, and quorum queues have no priorities.
    lacks: [
      ...(['jobList', 'payloads', 'groups', 'localStore', 'idempotencyKeys', 'priorities'] as const),
      ...(['liveSettings', 'attemptHistory', 'waitCounts'] as const),
    ],
    cannot: {
      'groups side by side': 'one line, handed out one by one, is what keeps its order',
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
