// Failures specific to queues in RabbitMQ: lost channels, several engines, held jobs, unsupported features.

import { afterAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/core/calls/refusal.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import type { RabbitChannel } from '../../../src/effects/rabbit-channel.ts';
import { RabbitLink } from '../../../src/effects/rabbitmq.ts';
import type { QueueAdapter } from '../../../src/modules/queue/adapters/adapter.ts';
import { BrokerNames } from '../../../src/modules/queue/adapters/rabbit/topology.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { ContractQueue } from '../../support/stores/contract-queue.ts';
import {
  NO_RABBITMQ,
  newPrefix,
  removeBrokerQueues,
  SHARED_RABBITMQ,
  startRabbitQueues,
} from '../../support/stores/rabbit-queues.ts';
import { waitFor, within } from '../../support/wait-for.ts';

const prefix = newPrefix();
const used: string[] = [];

async function open(adapter: QueueAdapter, rules = {}): Promise<ContractQueue> {
  const queue = await ContractQueue.open(adapter, rules);
  used.push(queue.name);
  return queue;
}

async function proxied() {
  const url = new URL(SHARED_RABBITMQ);
  const proxy = await CutProxy.start(Number(url.port || 5672));
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url: url.toString() };
}

async function behindProxy() {
  const { proxy, url } = await proxied();
  const adapter = await startRabbitQueues({ prefix, url });
  return { proxy, adapter };
}

/** The link to a busy RabbitMQ: it reports every queue as empty, as it does while messages are returned. */
class BusyLink extends RabbitLink {
  override async channel() {
    const channel = await super.channel();
    const declare = channel.queueDeclare.bind(channel);
    channel.queueDeclare = async (params) => ({ ...(await declare(params)), messageCount: 0 });
    return channel;
  }
}

/** Fails once, when it is asked for the channel of that number. */
class FalteringLink extends RabbitLink {
  static failsAt = Number.NaN;

  override async channel() {
    if (--FalteringLink.failsAt === 0) throw new Refusal('STORAGE_UNAVAILABLE', 'away for a moment');
    return await super.channel();
  }
}

/** Its first consumer ends as soon as it exists, with messages on the way. */
class HastyLink extends RabbitLink {
  #isFirst = true;

  override async channel() {
    const channel = await super.channel();
    const consume = channel.basicConsume.bind(channel);
    channel.basicConsume = async (...consumer) => {
      const answer = await consume(...consumer);
      if (this.#isFirst) void channel.close();
      this.#isFirst = false;
      return answer;
    };
    return channel;
  }
}

/** The first two messages it parks arrive, and it never learns of it: as with an engine that ends at that moment. */
class ForgetfulLink extends RabbitLink {
  #forgotten = 0;

  override async publish(publication: Parameters<RabbitLink['publish']>[0]): Promise<void> {
    await super.publish(publication);
    if (!publication.routingKey.includes('.parked.') || this.#forgotten === 2) return;
    this.#forgotten++;
    throw new Error('the confirmation was lost');
  }
}

/** A link whose broker can fall silent, on a clock that the test moves. */
async function silencedLink() {
  const clock = new TurningClock();
  const { proxy, url } = await proxied();
  const logger = createLogger({ level: 'debug', format: 'default', clock, write: () => {} });
  const link = new RabbitLink({ urls: [url], purpose: 'silenced', clock, logger, onUp: () => {} });
  await link.open();
  const end = async (): Promise<void> => {
    proxy.cut();
    const closed = link.close();
    clock.advance(20_000);
    await closed;
    await proxy[Symbol.asyncDispose]();
  };
  return { clock, proxy, link, end };
}

/** A message that another program put into the queue. */
async function publishNoJob(queue: string): Promise<void> {
  const clock = systemClock;
  const logger = createLogger({ level: 'error', format: 'default', clock, write: () => {} });
  const link = new RabbitLink({ urls: [SHARED_RABBITMQ], purpose: 'no job', clock, logger, onUp: () => {} });
  await link.open();
  await link.publish({ exchange: '', routingKey: queue, body: Buffer.from('no job') });
  await link.close();
}

describe.skipIf(NO_RABBITMQ)(`queues in RabbitMQ ${NO_RABBITMQ ?? ''}`, () => {
  test('[Q1] [K3] a message that is never confirmed is refused after 20 s with an unknown outcome', async () => {
    const { clock, proxy, link, end } = await silencedLink();
    const queue = `${prefix}.unconfirmed`;
    await link.use((channel) => channel.queueDeclare({ queue, exclusive: true }));
    const publication = { exchange: '', routingKey: queue, body: Buffer.from('1') };
    await link.publish(publication);
    proxy.fallSilent();
    const refused = link.publish(publication);
    clock.advance(20_000);
    await expect(refused).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(/did not confirm within 20 s; whether the message was kept is unknown$/),
    });
    await end();
  });

  test.each<[string, (channel: RabbitChannel, queue: string) => Promise<unknown>]>([
    ['the declaration of a queue', (channel, queue) => channel.queueDeclare({ queue, exclusive: true })],
    ['the look for a queue', (channel, queue) => channel.hasQueue(queue)],
    ['the end of a queue', (channel, queue) => channel.queueDelete(queue)],
    ['the declaration of an exchange', (channel, exchange) => channel.exchangeDeclare({ exchange, type: 'topic' })],
    ['a fetch', (channel, queue) => channel.basicGet(queue)],
    ['the number of jobs at once', (channel) => channel.basicQos(1)],
    ['a consumer', (channel, queue) => channel.basicConsume(queue, 'c', () => {})],
    ['the end of a consumer', (channel) => channel.basicCancel('c')],
    ['the wish for confirmations', (channel) => channel.confirmSelect()],
  ])('[K3] %s without an answer fails after 20 s, and its channel is closed', async (_what, ask) => {
    const { clock, proxy, link, end } = await silencedLink();
    const channel = await link.channel();
    proxy.fallSilent();
    const failure = ask(channel, `${prefix}.unanswered`).catch((error: unknown) => link.refusalOf(error));
    clock.advance(20_000);
    expect(await within(5_000, 'it fails', failure)).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(/it did not answer within 20 s$/),
    });
    expect(channel.active).toBe(false);
    await end();
  });

  test('[K3] a channel that the broker does not open, and one that it does not close, time out after 20 s', async () => {
    const { clock, proxy, link, end } = await silencedLink();
    const channel = await link.channel();
    proxy.fallSilent();
    const refused = link.channel().catch((error: unknown) => error);
    clock.advance(20_000);
    expect(await within(5_000, 'it fails', refused)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const ended = channel.close();
    clock.advance(20_000);
    await within(5_000, 'it ends', ended);
    await end();
  });

  test('[F1] [Q11] a change that cannot read the registry of queues keeps what another engine wrote there', async () => {
    const [one, two] = [await startRabbitQueues({ prefix }), await startRabbitQueues({ prefix, Link: FalteringLink })];
    await one.topics.subscribe({ topic: 'book', functionId: 'left' });
    FalteringLink.failsAt = 2;
    await expect(two.topics.subscribe({ topic: 'book', functionId: 'right' })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    });
    await two.topics.subscribe({ topic: 'book', functionId: 'right' });
    const ofBook = (await one.topics.subscriptions()).filter(({ topic }) => topic === 'book');
    expect(ofBook.map(({ functionId }) => functionId).toSorted()).toEqual(['left', 'right']);
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[Q8] [K3] jobs come again after a lost connection, and earlier outcomes no longer count', async () => {
    const { proxy, adapter } = await behindProxy();
    const queue = await open(adapter);
    const id = await queue.receipt(1);
    const first = await queue.claimOne();
    proxy.cut();
    await waitFor('the adapter has noticed the loss', () => adapter.trouble);
    expect((await queue.settle(first, 'done')).stale).toBe(1);
    const again = await queue.claimOne();
    expect(again).toMatchObject({ id, attempt: 1 });
    await queue.settle(again, 'done');
    await adapter.stop();
    await proxy[Symbol.asyncDispose]();
  });

  test('[Q1] messages that arrive while a channel ends come again', async () => {
    const one = await startRabbitQueues({ prefix });
    const left = await open(one);
    const id = await left.receipt(1);
    await one.stop();
    await publishNoJob(new BrokerNames(prefix).work(left.name));
    const two = await startRabbitQueues({ prefix, Link: HastyLink });
    const right = left.through(two);
    await right.openAs({});
    const job = await right.claimOne();
    expect(job).toMatchObject({ id, attempt: 1 });
    expect(await right.settle(job, 'done')).toMatchObject({ stale: 0 });
    await two.stop();
  });

  test('[Q4] [F2] a held fifo job keeps its attempt and its wait across a lost connection', async () => {
    const { proxy, adapter } = await behindProxy();
    const queue = await open(adapter, { groupField: 'g' });
    for (const n of [1, 2]) await queue.enqueue({ g: 'a', n });
    const first = await queue.claimOne();
    const beganMs = performance.now();
    await queue.settle(first, 'retry', { afterMs: 700, error: 'no' });
    proxy.cut();
    const again = await queue.claimOne();
    expect(again).toMatchObject({ id: first.id, attempt: 2 });
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(699);
    await adapter.stop();
    await proxy[Symbol.asyncDispose]();
  });

  test('[F1] of two engines one works on a fifo queue, and the other takes over when it ends', async () => {
    const one = await startRabbitQueues({ prefix });
    const left = await open(one, { groupField: 'g' });
    for (const n of [1, 2]) await left.enqueue({ g: 'a', n });
    const job = await left.claimOne();
    const two = await startRabbitQueues({ prefix });
    const right = left.through(two);
    await right.openAs({});
    expect((await right.advance({ claim: 9 })).jobs).toEqual([]);
    await one.stop();
    expect(await right.claimOne()).toMatchObject({ id: job.id, attempt: 1 });
    await two.stop();
  });

  test('[Q7] all jobs that wait for a function wake, however many they are', async () => {
    const adapter = await startRabbitQueues({ prefix });
    const queue = await open(adapter);
    const receipts = await Promise.all(Array.from({ length: 300 }, (_, n) => queue.receipt(n)));
    for (let parked = 0; parked < receipts.length; ) {
      const jobs = await queue.claim(20);
      await queue.advance({ settled: jobs.map(({ seq, token }) => ({ seq, token, how: 'park', isUnsent: true })) });
      parked += jobs.length;
    }
    expect(await adapter.wake(queue.name, 'f')).toBe(receipts.length);
    expect(await queue.stats()).toMatchObject({ parked: 0 });
    await adapter.stop();
  });

  test('[Q7] [R2] of a job that was parked several times, every copy wakes', async () => {
    const adapter = await startRabbitQueues({ prefix, Link: ForgetfulLink });
    const queue = await open(adapter);
    const id = await queue.receipt(1);
    for (let copy = 0; copy < 3; copy++) await queue.settle(await queue.claimOne(), 'park', { isUnsent: true });
    expect(await adapter.wake(queue.name, 'f')).toBe(3);
    expect((await queue.claimAll(3)).map((job) => job.id)).toEqual([id, id, id]);
    await adapter.stop();
  });

  test('[Q7] [Q10] waiting and dead jobs are found, though RabbitMQ reports empty queues', async () => {
    const adapter = await startRabbitQueues({ prefix, Link: BusyLink });
    const queue = await open(adapter);
    for (const n of [1, 2, 3]) await queue.enqueue(n);
    const [parked, ...dead] = await queue.claimAll(3);
    if (parked !== undefined) await queue.settle(parked, 'park', { isUnsent: true });
    for (const job of dead) await queue.settle(job, 'dead', { error: 'no' });
    expect(await queue.dead()).toHaveLength(2);
    expect(await adapter.deadLetters.redrive(queue.name)).toBe(2);
    expect(await adapter.wake(queue.name, 'f')).toBe(1);
    await queue.claimAll(3);
    await adapter.stop();
  });

  test('[Q10] every dead letter is redriven once, though each dies again meanwhile', async () => {
    const adapter = await startRabbitQueues({ prefix });
    const queue = await open(adapter);
    const receipts = await Promise.all(Array.from({ length: 120 }, (_, n) => queue.receipt(n)));
    const bury = async (count: number): Promise<void> => {
      const jobs = await queue.claim(count);
      await queue.advance({ settled: jobs.map(({ seq, token }) => ({ seq, token, how: 'dead', error: 'no' })) });
    };
    for (let died = 0; died < receipts.length; died = (await queue.stats())?.dead ?? 0) await bury(20);
    let isOver = false;
    const redriven = adapter.deadLetters.redrive(queue.name).finally(() => {
      isOver = true;
    });
    // At the end there is nothing to claim, and a claim would wait for it.
    while (!isOver) await Promise.race([bury(20).catch(() => {}), redriven]);
    expect(await redriven).toBe(receipts.length);
    await adapter.stop();
  });

  test('[Q7] an engine learns of functions that only jobs of other engines wait for', async () => {
    const [one, two] = [await startRabbitQueues({ prefix }), await startRabbitQueues({ prefix })];
    const left = await open(one);
    await left.enqueue(1);
    await left.settle(await left.claimOne(), 'park', { isUnsent: true });
    expect(await one.sharing.parkedElsewhere(left.name)).toEqual([]);
    await left.through(two).openAs({});
    await waitFor('both adapters know the function', async () =>
      (await two.sharing.parkedElsewhere(left.name)).includes('f'),
    );
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[K4] a queue whose jobs another engine runs cannot change its kind', async () => {
    const one = await startRabbitQueues({ prefix });
    const left = await open(one);
    const id = await left.receipt(1);
    const job = await left.claimOne();
    const two = await startRabbitQueues({ prefix });
    const right = left.through(two);
    await waitFor('its consumer is known', async () => (await right.openAs({ isFifo: true })).isRefused);
    await left.settle(job, 'release', { isUnsent: true });
    expect(await left.claimOne()).toMatchObject({ id });
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[G1] an engine ends at once, also while its queues are still being opened', async () => {
    const adapter = await startRabbitQueues({ prefix });
    await Promise.all([open(adapter), open(adapter, { groupField: 'g' })]);
    await within(10_000, 'the adapter has stopped', adapter.stop());
  });

  test('[Q7] a held job is redelivered before RabbitMQ gives it to another consumer, and does not become poison by that', async () => {
    const adapter = await startRabbitQueues({ prefix, consumerTimeoutMs: 60 });
    const held = ContractQueue.unopened(adapter, { groupField: 'g' });
    used.push(held.name);
    await held.openAs({ jobTimeoutMs: 1, retry: { maxRetries: 0, backoffMs: 0, isExponential: true } });
    await held.enqueue({ g: 'a' });
    const job = await held.claimOne();
    await held.settle(job, 'park', { isUnsent: true });
    // Between two deliveries the engine does not have it.
    let renewals = 0;
    await waitFor('the job was redelivered repeatedly', async () => {
      if ((await adapter.jobLookup.find(job.id).catch(() => undefined)) === undefined) renewals++;
      return renewals >= 3;
    });
    await waitFor('the job may run', async () => (await adapter.wake(held.name, 'f')) === 1);
    expect(await held.claimOne({ deliveriesMax: 2 })).toMatchObject({ id: job.id, attempt: 1 });
    await adapter.stop();
  });

  test('unsupported features are refused with their reason', { timeout: 60_000 }, async () => {
    const adapter = await startRabbitQueues({ prefix });
    const [queue, fifo] = [await open(adapter), await open(adapter, { groupField: 'g' })];
    expect(await fifo.enqueue({ g: 1 }, { delayMs: 5 })).toMatchObject({ message: expect.stringContaining('delay') });
    const id = await queue.receipt(1);
    const job = await queue.claimOne();
    expect(await adapter.jobLookup.find(id)).toMatchObject({ state: 'running', attempt: 1 });
    await queue.settle(job, 'done');
    await expect(adapter.jobLookup.find(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await adapter.stop();
  });
});

afterAll(async () => {
  if (NO_RABBITMQ === undefined) await removeBrokerQueues(prefix, used);
});
