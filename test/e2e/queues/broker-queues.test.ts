// Queues in a broker, seen by their workers.

import { afterAll, describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { BROKERS, Broker } from '../../support/stores/brokers.ts';
import { deadLettersOf, enqueue, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { NO_RABBITMQ, newPrefix, removeBrokerQueues, SHARED_RABBITMQ } from '../../support/stores/rabbit-queues.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runSvc } from '../cli/cli-process.ts';

async function healthOf(worker: RawWorker): Promise<{ status: string; adapter: string; details: object }> {
  const { result } = await worker.call('engine::health::check');
  return Object(result).components.modules['svc-queue'];
}

async function triggerStatus(worker: RawWorker, id: string): Promise<unknown> {
  const { result } = await worker.call('engine::registered-triggers::info', { id });
  return Object(result).status;
}

for (const kind of BROKERS) {
  describe.skipIf(kind.refusal)(`queues in ${kind.name} ${kind.refusal ?? ''}`, () => {
    test(`[S5] ${kind.name === 'rabbitmq' ? 'refuse triggers that name them' : 'take the jobs of changes'}`, async () => {
      await using broker = await Broker.behindProxy(kind);
      const state = '  - name: svc-state\n    config: {adapter: {name: kv, config: {store_method: in_memory}}}\n';
      await using engine = await startTestEngine({ yaml: broker.yaml() + state });
      await using worker = await RawWorker.connect(engine.url);
      const values: unknown[] = [];
      await worker.serve('changed', (data) => values.push((data as { new_value: unknown }).new_value));
      const config = { queue: 'default' };
      worker.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'changed', config });
      await worker.settled();
      const refused = worker.frames.find(({ type }) => type === 'triggerregistrationresult')?.error;
      if (kind.name === 'rabbitmq') {
        const message = expect.stringContaining('which cannot recognise a repeated job');
        expect(refused).toMatchObject({ message });
        return;
      }
      expect(refused).toBeUndefined();
      for (const value of [1, 2]) await worker.call('state::set', { scope: 's', key: 'k', value });
      await waitFor('both jobs have run', () => values.length === 2);
      expect(values.sort()).toEqual([1, 2]);
    });

    test('[Q1] [Q4] [Q9] [Q10] [K2] run jobs, repeat them, keep dead letters and redrive them', async () => {
      await using broker = await Broker.behindProxy(kind);
      await using engine = await startTestEngine({ yaml: broker.yaml('{default: {max_retries: 1, backoff_ms: 1}}') });
      await using worker = await RawWorker.connect(engine.url);
      const seen: unknown[] = [];
      let isBroken = true;
      await worker.serve('job', (data, { metadata }) => {
        seen.push([data, metadata]);
        if (isBroken) throw new Error('no luck');
      });
      const id = await receiptOf(enqueue(worker, 'job', { n: 1 }));
      await waitFor('the job is a dead letter', async () => (await statsOf(worker)).dlq_depth === 1);
      const delivered = (attempt: number) => [{ n: 1 }, { messageReceiptId: id, attempt, queue: 'default' }];
      expect(seen).toEqual([delivered(1), delivered(2)]);
      expect(await deadLettersOf(worker)).toMatchObject([{ id, payload: { n: 1 }, reason: 'failed', retries: 2 }]);
      isBroken = false;
      const redriven = await worker.call('svc::queue::redrive', { queue: 'default' });
      expect(redriven.result).toMatchObject({ redriven: 1 });
      await waitFor('it has run', () => seen.length === 3);
      expect(seen[2]).toEqual(delivered(1));
      expect(await healthOf(worker)).toMatchObject({ status: 'healthy', adapter: kind.name });
    });

    test('[Q7] run jobs that wait for a worker on an engine that has their function', {
      timeout: 90_000,
    }, async () => {
      await using broker = await Broker.behindProxy(kind);
      await using left = await startTestEngine({ yaml: broker.yaml() });
      await using producer = await RawWorker.connect(left.url);
      for (const n of [1, 2, 3]) await receiptOf(enqueue(producer, 'elsewhere', n));
      await waitFor(
        'the jobs wait for their function',
        async () => (await statsOf(producer)).states.waiting_for_worker === 3,
        15_000,
      );
      await using right = await startTestEngine({ yaml: broker.yaml() });
      // It learns of these three at its start. Each engine parks some of the next four.
      for (const n of [4, 5, 6, 7]) await receiptOf(enqueue(producer, 'later', n));
      await waitFor(
        'all jobs wait for their functions',
        async () => (await statsOf(producer)).states.waiting_for_worker === 7,
        15_000,
      );
      await using worker = await RawWorker.connect(right.url);
      const seen: unknown[] = [];
      for (const id of ['elsewhere', 'later']) await worker.serve(id, (n) => seen.push(n));
      await waitFor('all have run', () => seen.length === 7, 60_000);
      expect(seen.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    test('[F2] [F3] keep the order of a fifo queue while jobs fail', async () => {
      await using broker = await Broker.behindProxy(kind, ['orders']);
      const orders = '{orders: {type: fifo, message_group_field: g, backoff_ms: 20, max_retries: 5}}';
      await using engine = await startTestEngine({ yaml: broker.yaml(orders) });
      await using worker = await RawWorker.connect(engine.url);
      const seen: Record<string, number[]> = { a: [], b: [] };
      let calls = 0;
      await worker.serve('job', (data) => {
        if (++calls % 3 === 0) throw new Error('again');
        const { g, n } = data as { g: string; n: number };
        seen[g]?.push(n);
      });
      for (let n = 0; n < 10; n++)
        for (const g of ['a', 'b']) await enqueue(worker, 'job', { g, n }, { queue: 'orders' });
      await waitFor('all have run', () => (seen.a?.length ?? 0) + (seen.b?.length ?? 0) === 20, 15_000);
      const inOrder = Array.from({ length: 10 }, (_, n) => n);
      expect(seen).toEqual({ a: inOrder, b: inOrder });
    });

    test('[Q7] [modules 6.5] keep jobs for an absent worker, and messages for the first subscriber', async () => {
      await using broker = await Broker.behindProxy(kind, ['news\n', 'news\nread']);
      await using engine = await startTestEngine({ yaml: broker.yaml() });
      await using worker = await RawWorker.connect(engine.url);
      await receiptOf(enqueue(worker, 'later', 'job'));
      await worker.call('svc::durable::publish', { topic: 'news', data: 'first' });
      await waitFor(
        'the job waits for its function',
        async () => (await statsOf(worker)).states.waiting_for_worker === 1,
      );
      const [jobs, news]: unknown[][] = [[], []];
      await worker.serve('later', (data) => jobs?.push(data));
      await worker.serve('read', (data) => news?.push(data));
      const config = { topic: 'news' };
      worker.send({
        type: 'registertrigger',
        id: 't',
        trigger_type: 'durable:subscriber',
        function_id: 'read',
        config,
      });
      await waitFor('the kept job and message have run', () => news?.length === 1 && jobs?.length === 1);
      await worker.call('svc::durable::publish', { topic: 'news', data: 'second' });
      await waitFor('the next message has run', () => news?.length === 2);
      expect([jobs, news]).toEqual([['job'], ['first', 'second']]);
    });

    test('[K3] [Q2] refuse jobs while the broker is away, and run jobs again when it is back', LONG, async () => {
      await using broker = await Broker.behindProxy(kind);
      await using engine = await startTestEngine({ yaml: broker.yaml() });
      await using worker = await RawWorker.connect(engine.url);
      const seen: unknown[] = [];
      await worker.serve('job', (data) => seen.push(data));
      await receiptOf(enqueue(worker, 'job', 1));
      await waitFor('the first has run', () => seen.length === 1);
      await waitFor('the first job is acknowledged', async () => (await statsOf(worker)).depth === 0);
      broker.proxy.close();
      await waitFor('health is unhealthy', async () => (await healthOf(worker)).status === 'unhealthy');
      const { error } = await enqueue(worker, 'job', 2);
      expect(error).toMatchObject({ code: 'enqueue_error', reason: 'STORAGE_UNAVAILABLE' });
      broker.proxy.reopen();
      await waitFor('health is healthy again', async () => (await healthOf(worker)).status === 'healthy', 10_000);
      await receiptOf(enqueue(worker, 'job', 3));
      // The consuming connection returns after the publishing one.
      await waitFor('jobs run again', () => seen.includes(3), 30_000);
      // The first job may run twice: its acknowledgement may be lost with the connection.
      expect(new Set(seen)).toEqual(new Set([1, 3]));
    });

    test(
      '[K3] [modules 6.5] serve a subscriber that registered while the broker was away, once it is back',
      LONG,
      async () => {
        await using broker = await Broker.behindProxy(kind, ['news\n', 'news\nread']);
        await using engine = await startTestEngine({ yaml: broker.yaml() });
        await using worker = await RawWorker.connect(engine.url);
        const news: unknown[] = [];
        await worker.serve('read', (data) => news.push(data));
        broker.proxy.close();
        await waitFor('health is unhealthy', async () => (await healthOf(worker)).status === 'unhealthy');
        const config = { topic: 'news' };
        worker.send({ type: 'registertrigger', id: 't', trigger_type: 'queue', function_id: 'read', config });
        await waitFor('the subscription is in error', async () => (await triggerStatus(worker, 't')) === 'Error');
        broker.proxy.reopen();
        await waitFor(
          'the subscription is active',
          async () => (await triggerStatus(worker, 't')) === 'Active',
          30_000,
        );
        expect((await worker.call('svc::durable::publish', { topic: 'news', data: 'first' })).error).toBeUndefined();
        await waitFor('the message has run', () => news.length === 1, 15_000);
      },
    );

    test('[G2] [R2] keep their jobs for the next engine without using an attempt', async () => {
      await using broker = await Broker.behindProxy(kind);
      const yaml = broker.yaml();
      let receipt = '';
      {
        await using engine = await startTestEngine({ yaml });
        await using worker = await RawWorker.connect(engine.url);
        await worker.register('endless');
        receipt = await receiptOf(enqueue(worker, 'endless', 1));
        await worker.next('invokefunction');
        await worker.call('engine::queue::pause', { queue: 'default' });
        for (let n = 0; n < 20; n++) await receiptOf(enqueue(worker, 'endless', n));
        await engine.drain();
      }
      await using engine = await startTestEngine({ yaml });
      await using worker = await RawWorker.connect(engine.url);
      expect(await statsOf(worker)).toMatchObject({ paused: true });
      const attempts = new Map<string, number>();
      await worker.serve('endless', (_data, { metadata }) => {
        const { messageReceiptId, attempt } = metadata as { messageReceiptId: string; attempt: number };
        attempts.set(messageReceiptId, attempt);
      });
      await worker.call('engine::queue::resume', { queue: 'default' });
      await waitFor('all have run', () => attempts.size === 21, 10_000);
      expect(attempts.get(receipt)).toBe(1);
      expect(new Set(attempts.values())).toEqual(new Set([1]));
    });
  });
}

const LONG = { timeout: 60_000 };

describe.skipIf(NO_RABBITMQ)(`an adapter that cannot work ${NO_RABBITMQ ?? ''}`, () => {
  afterAll(() => removeBrokerQueues('svc-refused', ['default']));

  const wrongPassword = SHARED_RABBITMQ.replace(/\/\/[^@]*@/, '//guest:secret-word@');
  test.each([
    ['an invalid address', "{name: rabbitmq, config: {amqp_url: 'http://:secret-word@127.0.0.1'}}", '{}'],
    ['a wrong password', `{name: rabbitmq, config: {amqp_url: '${wrongPassword}'}}`, '{}'],
    ['a broken address of Redis', "{name: redis, config: {extstore_url: 'redis://:secret-word@127.0.0.1:x'}}", '{}'],
  ])('[K2] %s ends the start with exit code 78', async (_what, adapter, queues) => {
    const module = `  - {name: svc-queue, config: {queue_configs: ${queues}, adapter: ${adapter}}}\n`;
    const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${module}`;
    await using engine = await EngineProcess.spawn(yaml);
    expect(await engine.end(15_000)).toMatchObject({ code: 78 });
    expect(engine.stderr).not.toContain('secret-word');
  });

  test.each([
    ['priorities', '{q: {priority_field: urgency}}', 'priority_field'],
    ['jobs that take longer than RabbitMQ waits', '{q: {job_timeout_ms: 1800000}}', 'consumer_timeout_ms'],
    [
      'retries that take longer than RabbitMQ waits',
      '{q: {type: fifo, message_group_field: g, backoff_ms: 600000, max_retries: 5}}',
      'consumer_timeout_ms',
    ],
  ])('[K2] %s are refused at the start', async (_what, queues, named) => {
    const adapter = `{name: rabbitmq, config: {amqp_url: '${SHARED_RABBITMQ}', prefix: svc-refused}}`;
    const module = `  - {name: svc-queue, config: {queue_configs: ${queues}, adapter: ${adapter}}}\n`;
    const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${module}`;
    await expect(startTestEngine({ yaml })).rejects.toThrow(named);
  });
});

describe.skipIf(NO_RABBITMQ)(`the command line on queues in RabbitMQ ${NO_RABBITMQ ?? ''}`, () => {
  const prefix = newPrefix();
  const config = `{queue_configs: {mail: {max_retries: 1, backoff_ms: 300}}, adapter: ${rabbit(prefix)}}`;
  const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n  - {name: svc-queue, config: ${config}}\n`;

  test('[QUE-2] prints - for figures that RabbitMQ does not report, and svc check refuses to check them', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startTestEngine({ yaml });
    const svc = async (...args: string[]) => (await runSvc(['queue', ...args, '--url', engine.url])).stdout;
    const lines = (await svc('list', '-o', 'csv')).split('\n').map((line) => line.split(','));
    const mail = lines.find(([name]) => name === 'mail') ?? [];
    const shown = Object.fromEntries((lines[0] ?? []).map((name, at) => [name, mail[at]]));
    expect(shown).toMatchObject({ waiting: '0', retrying: '', delayed: '', dead: '0' });
    expect(await svc('list', '--plain')).toMatch(/^mail\tstandard\t0\t0\t-\t0\t/m);
    expect(await svc('info', 'mail')).toMatch(/retrying +-\n *delayed +-\n[\s\S]*oldest job +-\n/);
    const missing = JSON.parse(await svc('info', 'mail', '--json')).not_told;
    expect(missing).toEqual(expect.arrayContaining(['waits', 'jobs']));
    const check = (...args: string[]) => runSvc(['check', 'queue', 'mail', ...args, '--url', engine.url]);
    expect(await check('--depth-warn', '1')).toMatchObject({ code: 0 });
    expect(await check('--oldest-warn', '1m')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('does not report the age'),
    });
  });

  test('[CLI-21] [console 6.5] follows a job with --wait, and finds its dead letter by receipt', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    let isBroken = true;
    await worker.serve('job', () => {
      if (isBroken) throw new Error('no luck');
    });
    const svc = (...args: string[]) => runSvc([...args, '--url', engine.url, '--json']);
    const failed = await svc('trigger', 'job', '--queue', 'mail', '--wait');
    expect(failed.code).toBe(1);
    const job = JSON.parse(failed.stdout);
    expect(job).toMatchObject({ state: 'dead', queue: 'mail', error: expect.stringContaining('no luck') });
    const { messageReceiptId: receipt } = job;
    const shown = await svc('queue', 'dlq', 'show', receipt);
    expect(JSON.parse(shown.stdout)).toMatchObject({ id: receipt, queue: 'mail', retries: 2 });
    isBroken = false;
    const redriven = await svc('queue', 'dlq', 'redrive', receipt);
    expect(JSON.parse(redriven.stdout)).toMatchObject({ redriven: 1 });
    expect(await svc('trigger', 'job', '--queue', 'mail', '--wait')).toMatchObject({ code: 0 });
    expect(await svc('queue', 'dlq', 'show', receipt)).toMatchObject({ code: 3 });
  });

  afterAll(async () => await removeBrokerQueues(prefix, ['mail', 'default']));
});

function rabbit(prefix: string): string {
  return `{name: rabbitmq, config: {amqp_url: '${SHARED_RABBITMQ}', prefix: ${prefix}}}`;
}
