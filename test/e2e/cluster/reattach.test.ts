// A worker that lost its connection to one engine, which does not know it yet, and connects to another.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForEngines, waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();
const ALONE = { more: 'balance: reject_duplicates', workers: '  - name: svc-pubsub\n' };

const reattachAs = (worker: RawWorker, token = worker.reattachToken) => ({
  ...{ type: 'reattach', previous_worker_id: worker.workerId, reattach_token: token },
});

async function startBoth(): Promise<ClusterPair> {
  const pair = await startClusterPair(ALONE);
  await waitForEngines(connect(pair.b.url), 1);
  return pair;
}

describe.skipIf(NO_NATS_SERVER)('a worker that reconnects to another engine', () => {
  test('[CL35] takes its functions and triggers along at once, and the old connection ends', async () => {
    await using pair = await startBoth();
    await using old = await RawWorker.connect(pair.a.url);
    await old.serve('shop::who', () => 'old');
    const subscription = { type: 'registertrigger', trigger_type: 'subscribe', config: { topic: 'paid' } };
    old.send({ ...subscription, id: 'on-paid', function_id: 'shop::who' });
    const callers = [connect(pair.a.url), connect(pair.b.url)];
    for (const caller of callers) await waitForTriggers(caller, 1);
    await using moved = await RawWorker.connect(pair.b.url);
    moved.send(reattachAs(old));
    const heard: unknown[] = [];
    await moved.serve('shop::who', (data) => {
      heard.push(data);
      return 'moved';
    });
    moved.send({ ...subscription, id: 'on-paid', function_id: 'shop::who' });
    expect(await old.closed).toEqual({ code: 4400, reason: 'the worker connected to another engine' });
    for (const caller of callers) {
      await waitFor('it answers', async () => (await caller.trigger('shop::who', 'call').catch(() => '')) === 'moved');
      await waitForTriggers(caller, 1);
    }
    await callers[0]?.emit('paid', 'once');
    await waitFor('the event has arrived', () => heard.includes('once'));
    expect(heard.filter((data) => data === 'once')).toHaveLength(1);
    expect(moved.frames.filter(({ type }) => type === 'registrationrejected')).toEqual([]);
  });

  test('[CL35] changes nothing with a wrong token', async () => {
    await using pair = await startBoth();
    await using old = await RawWorker.connect(pair.a.url);
    await old.serve('shop::who', () => 'old');
    const caller = connect(pair.b.url);
    await waitForFunction(caller, 'shop::who');
    await using stranger = await RawWorker.connect(pair.b.url);
    const [first = ''] = old.reattachToken;
    stranger.send(reattachAs(old, (first === '0' ? '1' : '0') + old.reattachToken.slice(1)));
    stranger.send({ type: 'registerfunction', id: 'shop::who' });
    expect(await stranger.next('registrationrejected')).toMatchObject({ function_id: 'shop::who' });
    expect(await caller.trigger('shop::who', {})).toBe('old');
  });

  test('[CL35] registers at once where the old engine is gone', async () => {
    await using pair = await startBoth();
    await using old = await RawWorker.connect(pair.a.url);
    await pair.a.drain();
    await using moved = await RawWorker.connect(pair.b.url);
    moved.send(reattachAs(old));
    await moved.serve('shop::who', () => 'moved');
    expect(await connect(pair.b.url).trigger('shop::who', {})).toBe('moved');
  });
});
