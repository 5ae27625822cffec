// Queues and topics for the published client of `iii`, unmodified, in drop-in mode: the ids it knows.

import { TriggerAction } from 'iii-sdk';
import { expect, test } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { queueYaml } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const yaml = `compat: iii\n${queueYaml({ queues: '{mail: {max_retries: 0}}' })}`;

test('[PD-34] The iii client publishes to a topic and subscribes to it by the ids it knows', async () => {
  await using engine = await startTestEngine({ yaml });
  await using client = new IiiClient(engine.url);
  const seen: unknown[] = [];
  client.sdk.registerFunction('mail::welcome', async (data: unknown) => {
    seen.push(data);
    return null;
  });
  client.sdk.registerTrigger({ type: 'queue', function_id: 'mail::welcome', config: { topic: 'user.created' } });
  await client.ready();
  expect(await client.call('iii::durable::publish', { topic: 'user.created', data: { id: 7 } })).toBeNull();
  await waitFor('the message has arrived', () => seen.length === 1);
  expect(seen).toEqual([{ id: 7 }]);
});

test('[PD-34] The iii client enqueues, and redrives and discards dead letters by the ids it knows', async () => {
  await using engine = await startTestEngine({ yaml });
  await using client = new IiiClient(engine.url);
  client.sdk.registerFunction('mail::send', async () => {
    throw new Error('no');
  });
  await client.ready();
  const receipt = await client.sdk.trigger({
    function_id: 'mail::send',
    payload: { to: 'ann' },
    action: TriggerAction.Enqueue({ queue: 'mail' }),
  });
  expect(receipt).toEqual({ messageReceiptId: expect.any(String) });
  const dead = () => client.call('engine::queue::dlq_messages', { topic: 'mail' }) as Promise<{ id: string }[]>;
  const [letter] = await waitFor('it is a dead letter', async () => {
    const letters = await dead();
    return letters.length === 1 && letters;
  });
  expect(await client.call('iii::queue::redrive', { queue: 'mail' })).toMatchObject({ queue: 'mail', redriven: 1 });
  await waitFor('it is dead again', async () => (await dead()).length === 1);
  const message = { queue: 'mail', message_id: letter?.id };
  expect(await client.call('iii::queue::redrive_message', message)).toMatchObject({ redriven: 1 });
  await waitFor('it is dead again', async () => (await dead()).length === 1);
  expect(await client.call('iii::queue::discard_message', message)).toMatchObject({ redriven: 1 });
  expect(await dead()).toEqual([]);
});
