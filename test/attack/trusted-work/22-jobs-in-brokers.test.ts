// Jobs of pages and jobs of trusted clients in the same broker: neither takes the other's rights, over restarts too.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { BROKERS, Broker, type BrokerKind } from '../../support/stores/brokers.ts';
import { deadLettersOf, enqueue, receiptOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, leave } from '../restricted-page.ts';

/** Metadata that names what an engine might note about a job. */
const FORGED = {
  rights: null,
  access: null,
  origin: 'trusted',
  isTrustedWork: true,
  'x-svc-origin': 'trusted',
  'x-svc-rights': null,
  port: null,
  __proto__: { rights: null },
};

function startEngine(broker: Broker, exposed = 'api::*'): Promise<TestEngine> {
  const rbac = `rbac: {expose_functions: ['match("${exposed}")']}`;
  const page = `  - {name: svc-worker-manager, config: {port: 0, ${rbac}}}\n`;
  return startTestEngine({ yaml: broker.yaml('{default: {max_retries: 0}}') + page });
}

for (const kind of BROKERS) {
  const skip = (context: { skip: (why: string) => void }, { refusal }: BrokerKind): void => {
    if (refusal !== undefined) context.skip(refusal);
  };
  describe(`Jobs in ${kind.name}`, () => {
    test('of a page keep its rights over a restart, a changed port and a redrive, whatever their metadata', async (context) => {
      skip(context, kind);
      await using broker = await Broker.behindProxy(kind);
      {
        await using engine = await startEngine(broker);
        await using page = await connectPage(engine);
        await receiptOf(enqueue(page, 'api::x', 1, { metadata: FORGED }));
      }
      await using engine = await startEngine(broker, 'other::*');
      await using client = await RawWorker.connect(engine.url);
      const ran: unknown[] = [];
      await client.serve('api::x', (data) => ran.push(data));
      const refused = [{ error: expect.stringContaining("'api::x' not allowed") }];
      await waitFor('the job is a dead letter', async () => (await deadLettersOf(client)).length === 1);
      expect(await deadLettersOf(client)).toMatchObject(refused);
      await client.call('engine::queue::redrive', { queue: 'default' });
      await receiptOf(enqueue(client, 'api::x', 'trusted'));
      await waitFor('a trusted job runs', () => ran.length === 1);
      await waitFor('the job is a dead letter again', async () => (await deadLettersOf(client)).length === 1);
      expect(await deadLettersOf(client)).toMatchObject(refused);
      expect(ran).toEqual(['trusted']);
    });

    test('of a trusted client run on no page that registers the function after a restart', async (context) => {
      skip(context, kind);
      await using broker = await Broker.behindProxy(kind);
      {
        await using engine = await startEngine(broker);
        await using client = await RawWorker.connect(engine.url);
        const biller = await RawWorker.connect(engine.url);
        await biller.register('orders::bill');
        await leave(biller);
        for (let bill = 0; bill < 5; bill++) await receiptOf(enqueue(client, 'orders::bill', bill));
      }
      await using engine = await startEngine(broker);
      await using thief = await connectPage(engine);
      const stolen: unknown[] = [];
      await thief.serve('orders::bill', (data) => stolen.push(data));
      await using back = await RawWorker.connect(engine.url);
      const ran: unknown[] = [];
      await back.serve('orders::bill', (data) => ran.push(data));
      await waitFor('all jobs have run', () => ran.length === 5);
      expect(stolen).toEqual([]);
    });
  });
}
