// [SDK-11] `createFake` of `svc-sdk/testing`: workers and engine in one process, on a clock that the test moves.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/core/calls/exact-json.ts';
import { Enqueue, event, http, isSvcError, Void } from '../../../src/sdk/index.ts';
import { createFake, type Fake } from '../../../src/sdk/testing.ts';
import { canonicalJson, readUpdateVectors } from '../../support/random/update-vectors.ts';

const NOON = new Date('2026-01-01T12:00:00Z');

let fake: Fake;
beforeAll(async () => {
  fake = await createFake({ now: NOON, queues: { mail: { max_retries: 2, backoff_ms: 60_000 } } });
});
afterAll(() => fake?.stop());

test('[SDK-11] a worker of a fake calls and is called, and every call is recorded', async () => {
  const svc = fake.registerWorker({ worker_name: 'orders' });
  const caller = fake.registerWorker({ worker_name: 'shop' });
  svc.registerFunction('orders::create', ({ sku }: { sku: string }) => {
    if (sku === '') throw new TypeError('no sku');
    return { id: `o-${sku}` };
  });
  await svc.ready();
  expect(await caller.trigger({ function_id: 'orders::create', payload: { sku: 'a1' } })).toEqual({ id: 'o-a1' });
  const failure = await caller
    .trigger({ function_id: 'orders::create', payload: { sku: '' } })
    .catch((e: unknown) => e);
  expect(isSvcError(failure) && failure.message).toContain('no sku');
  await expect(caller.trigger({ function_id: 'orders::delete' })).rejects.toMatchObject({ code: 'function_not_found' });
  await caller.trigger({ function_id: 'orders::create', payload: { sku: 'b' }, action: Void() });
  await fake.settle();
  const made = fake.calls.filter(({ worker, direction }) => worker === 'shop' && direction === 'outgoing');
  expect(made).toMatchObject([
    { function_id: 'orders::create', payload: { sku: 'a1' }, result: { id: 'o-a1' } },
    { function_id: 'orders::create', payload: { sku: '' }, error: failure },
    { function_id: 'orders::delete', error: { code: 'function_not_found' } },
    { function_id: 'orders::create', action: { type: 'void' } },
  ]);
  expect(fake.calls.filter(({ direction }) => direction === 'incoming').map(({ payload }) => payload)).toEqual([
    { sku: 'a1' },
    { sku: '' },
    { sku: 'b' },
  ]);
});

test('[SDK-11] [Q4] a job is retried when the clock reaches the next attempt, and ends as a dead letter', async () => {
  const svc = fake.registerWorker({ worker_name: 'mailer' });
  const attempts: number[] = [];
  svc.registerFunction('mail::send', (_mail, { attempt }) => {
    attempts.push(attempt ?? 0);
    throw new Error('The mail server does not answer');
  });
  await svc.queue('mail').enqueue('mail::send', { to: 'ann@example.org' });
  await fake.settle();
  expect(attempts).toEqual([1]);
  await fake.advance(59_000);
  expect(attempts).toEqual([1]);
  await fake.advance(1_000);
  expect(attempts).toEqual([1, 2]);
  await fake.advance(120_000);
  expect(attempts).toEqual([1, 2, 3]);
  expect(await svc.queue('mail').dlq.list()).toMatchObject([
    { function_id: 'mail::send', reason: 'failed', payload: { to: 'ann@example.org' } },
  ]);
  const none = svc.trigger({ function_id: 'mail::send', action: Enqueue({ queue: 'mial' }) });
  await expect(none).rejects.toMatchObject({ code: 'enqueue_error' });
});

test('[SDK-11] a stream is watched, an event fires, a schedule runs when its time comes', async () => {
  const svc = fake.registerWorker();
  const seen: unknown[] = [];
  const room = svc.stream('chat').group<string>('room');
  await room.set('m1', 'hello');
  room.subscribe({
    onSync: (items) => seen.push([...items]),
    onChange: ({ type, id }) => seen.push([type, id]),
  });
  await fake.settle();
  await room.set('m2', 'there');
  const heard = svc.registerFunction('heard', (data: unknown) => seen.push(data));
  await svc.registerTrigger({ ...event('user.*'), function_id: heard }).ready();
  await svc.emit('user.created', { id: 7 });
  const ticks = svc.registerFunction('tick', ({ scheduled_time }: { scheduled_time: string }) =>
    seen.push(scheduled_time),
  );
  await svc.registerTrigger({ type: 'cron', function_id: ticks, config: { expression: '0 0 * * * *' } }).ready();
  await fake.advance(3_600_000);
  expect(seen).toEqual([[['m1', 'hello']], ['create', 'm2'], { id: 7 }, expect.stringMatching(/^2026-01-01T13:00:00/)]);
});

test('[SDK-11] a request to a route is answered by its handler', async () => {
  const svc = fake.registerWorker();
  const page = svc.registerFunction('page', ({ body }: { body: { n: number } }) => ({
    status_code: 201,
    body: body.n + 1,
  }));
  await svc.registerTrigger({ ...http('POST', '/page'), function_id: page }).ready();
  const answer = await fake.request({ method: 'POST', path: '/page', body: { n: 1 } });
  expect(answer).toMatchObject({ status: 201, body: '2' });
  expect((await fake.request({ path: '/nothing' })).status).toBe(404);
});

describe('[SDK-11] [S2] update operations', () => {
  const vectors = readUpdateVectors();

  test('of the shared table have the same effect on state in a fake as in an engine', async () => {
    const svc = fake.registerWorker({ worker_name: 'vectors' });
    for (const [index, { name, old, ops, new: after, errors, refused }] of vectors.entries()) {
      const place = { scope: 'vectors', key: String(index) };
      if (old !== undefined) await svc.trigger({ function_id: 'state::set', payload: { ...place, value: old } });
      const asked = svc.trigger({ function_id: 'state::update', payload: { ...place, ops } });
      if (refused !== undefined) {
        await expect(asked, name).rejects.toMatchObject({ code: refused.code });
        continue;
      }
      const answer: { new_value: JsonValue; errors?: { op_index: number; code: string }[] } = await asked;
      const codes = (answer.errors ?? []).map(({ op_index, code }) => ({ op_index, code }));
      expect(codes, name).toEqual(errors);
      // As a worker reads it: numbers as doubles.
      const read = after === undefined ? null : JSON.parse(JSON.stringify(after));
      expect(canonicalJson(answer.new_value), name).toBe(canonicalJson(read));
    }
    expect(vectors.length).toBeGreaterThan(100);
  });
});
