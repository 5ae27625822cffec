import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { sharedConfiguration } from '../../../src/engine/cluster-checks.ts';
import { declareModules } from '../../../src/engine/start-checks.ts';

function storesOf(amqpUrl: string) {
  const text = `workers:\n  - name: svc-queue\n    config: {adapter: {name: rabbitmq, config: {amqp_url: ${amqpUrl}}}}\n`;
  const read = loadConfig({ text, file: 'svc-config.yaml', env: {}, ...declareModules() });
  if (!read.ok) throw new Error('The file of this test is wrong');
  return sharedConfiguration(read.config).stores;
}

test('[CL24] engines that name the nodes of a RabbitMQ in different orders have their queues in the same place', () => {
  const stores = storesOf("['amqp://u:p@one', 'amqp://u:p@two']");
  expect(storesOf("['amqp://u:p@two', 'amqp://u:p@one']")).toEqual(stores);
  expect(storesOf("['amqp://u:p@two', 'amqp://u:p@three']")).not.toEqual(stores);
  expect(JSON.stringify(stores)).not.toContain('u:p');
});
