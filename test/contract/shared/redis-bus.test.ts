import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { RedisLink } from '../../../src/effects/redis.ts';
import type { EventBus } from '../../../src/modules/events/bus.ts';
import { redisBus } from '../../../src/modules/events/redis-bus.ts';
import { rawJson } from '../../../src/protocol/json/byte-string.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';
import { RedisServer, SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { listen, testEventBus } from './event-bus-contract.ts';

const log: string[] = [];
const logger = createLogger({ level: 'debug', format: 'default', clock: systemClock, write: (line) => log.push(line) });

interface Made {
  readonly url?: string;
  readonly channel?: string;
  readonly onUnreadable?: () => void;
}

function createBus({ url = SHARED_REDIS, channel = `svc-test:${randomUUID()}`, onUnreadable }: Made = {}): EventBus {
  return redisBus({
    createLink: async () => new RedisLink({ url, purpose: 'events', clock: systemClock, logger }),
    channel,
    onUnreadable: onUnreadable ?? (() => expect.unreachable('a message could not be read')),
  });
}

const event = (topic: string) => ({ topic, data: rawJson(topic), depth: 0 });

testEventBus({ name: 'Redis', create: () => createBus() });

describe('a bus of events over Redis', () => {
  test('[modules 8] reaches every engine on the channel, and none on another', async () => {
    const channel = `svc-test:${randomUUID()}`;
    using one = await listen(createBus({ channel }));
    using two = await listen(createBus({ channel }));
    using other = await listen(createBus());
    expect(await one.bus.publish(event('a'))).toEqual({ engines: 2 });
    await waitFor('both engines have the event', () => one.events.length === 1 && two.events.length === 1);
    expect(other.events).toEqual([]);
  });

  test('[K3] fails at once while Redis is away, is unhealthy meanwhile, and recovers by itself', async () => {
    await using server = await RedisServer.start();
    using listening = await listen(createBus({ url: server.url }));
    await server.stop();
    await waitFor('the loss is noticed', () => listening.bus.trouble);
    await expect(listening.bus.publish(event('lost'))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await server.start();
    await waitFor('the bus is healthy again', () => listening.bus.trouble === undefined, 10_000);
    await listening.bus.publish(event('after'));
    await waitFor('the subscription is back', () => listening.events.length === 1);
    expect(listening.events.map(({ topic }) => topic)).toEqual(['after']);
  });

  test('[K3] answers a publish whose Redis falls silent', { timeout: 20_000 }, async () => {
    await using server = await RedisServer.start();
    using listening = await listen(createBus({ url: server.url }));
    server.freeze();
    await expect(listening.bus.publish(event('a'))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });

  test('[K3] waits at its start for a Redis that comes late', async () => {
    await using server = await RedisServer.reserve();
    const bus = createBus({ url: server.url });
    const listening = listen(bus);
    await waitFor('the first attempt has failed', () => bus.trouble?.includes('ECONNREFUSED'));
    await server.start();
    using late = await listening;
    expect(late.bus.trouble).toBeUndefined();
  });

  test('[K3] fails at its start after 60 s, and releases everything', async () => {
    await using server = await RedisServer.reserve();
    const clock = new FakeClock();
    const link = new RedisLink({ url: server.url, purpose: 'events', clock, logger });
    const opened = link.open().catch((error: unknown) => error);
    await waitFor('the first attempt has failed', () => link.trouble?.includes('ECONNREFUSED'));
    clock.advance(60_000);
    expect(await opened).toMatchObject({ exitCode: 75, message: expect.stringContaining('Tried for 60 s') });
    expect(clock.timerCount).toBe(0);
  });

  test('[X22] shows no password, neither in health nor in errors nor in the log', async () => {
    const url = SHARED_REDIS.replace('redis://', 'redis://user:hunter2hunter2@');
    const bus = createBus({ url });
    const failure = await bus.start(() => {}).catch((error: unknown) => error);
    // A retry would not make the password right.
    expect(failure).toMatchObject({ exitCode: 78 });
    const broken = await createBus({ url: 'redis://u:hunter2hunter2@[x' })
      .start(() => {})
      .catch((error) => error);
    expect(broken).toMatchObject({ exitCode: 78 });
    expect([String(failure), String(broken), JSON.stringify(bus.details()), ...log].join('\n')).not.toContain(
      'hunter2',
    );
    bus.stop();
  });

  test('[modules 8] counts unreadable messages on its channel', async () => {
    const channel = `svc-test:${randomUUID()}`;
    let unreadable = 0;
    using listening = await listen(createBus({ channel, onUnreadable: () => unreadable++ }));
    const client = await createClient({ url: SHARED_REDIS }).connect();
    const messages = [
      '',
      'hello',
      '{"v":2,"topic":"a","depth":0}\n1',
      '{"v":1,"topic":"a","depth":0}\n{',
      '[]\n1',
      '\n',
    ];
    for (const message of messages) await client.publish(channel, message);
    await client.publish(channel, '{"v":1,"topic":"a","depth":0,"later":true}\n1');
    await waitFor('the last one is there', () => listening.events.length === 1);
    expect(unreadable).toBe(messages.length);
    client.destroy();
  });
});
