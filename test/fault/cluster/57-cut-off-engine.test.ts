// Fault 57: the network between an engine and NATS drops everything, and closes nothing (M3 of the guarantees).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import {
  codeOf,
  startClusterEngine,
  statusOf,
  waitForEngines,
  waitForFunction,
  waitForNoFunction,
} from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { waitFor } from '../../support/wait-for.ts';

const connect = sdkWorkers();
const ROUNDS = rounds(1);
/** The calls in flight of an engine that is cut off end in this time. */
const END_MS_MAX = 10_000;

describe.skipIf(NO_NATS_SERVER)('an engine that is cut off from NATS without a word', () => {
  test('[fault 57] [CL9] [CL13] [CL15] serves its own workers, ends the calls to others, and is back by itself', {
    timeout: 60_000 + ROUNDS * 90_000,
  }, async () => {
    const line = faultLine('57', 'engine cut off from NATS', `hanging=0,end<=${END_MS_MAX}ms`);
    await using nats = await NatsServer.start();
    await using proxy = await CutProxy.start(nats.port);
    const prefix = `t${randomUUID().slice(0, 8)}`;
    await using cut = await startClusterEngine({ nats: `nats://127.0.0.1:${proxy.port}`, prefix });
    await using other = await startClusterEngine({ nats: nats.url, prefix });
    const [near, far] = [connect(cut.url), connect(other.url)];
    near.registerFunction('near::one', () => 1);
    far.registerFunction('far::one', () => 1);
    far.registerFunction('far::hang', () => new Promise(() => {}));
    let endMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await waitForFunction(near, 'far::hang');
      await waitForFunction(far, 'near::one');
      await waitForEngines(near, 1);
      await waitForEngines(far, 1);
      const hanging = Array.from({ length: 20 }, () => codeOf(near.trigger('far::hang', {})));
      await waitFor('they run', async () => (await statusOf(near)).engines.some(({ calls }) => calls >= 20));
      proxy.fallSilent({ alsoNew: true });
      const silentMs = performance.now();
      expect(new Set(await Promise.all(hanging))).toEqual(new Set(['invocation_stopped']));
      endMs = Math.max(endMs, performance.now() - silentMs);
      expect(await near.trigger('near::one', {})).toBe(1);
      expect(await codeOf(near.trigger('far::one', {}))).toBe('ENGINE_UNREACHABLE');
      await waitFor('its health is degraded', async () => (await statusOf(near)).trouble !== undefined);
      // The other engine buries it.
      await waitForNoFunction(far, 'near::one');
      expect(await far.trigger('far::one', {})).toBe(1);
      expect(await near.trigger('near::one', {})).toBe(1);
      proxy.speakAgain();
      await waitFor('it is back', async () => (await codeOf(near.trigger('far::one', {}))) === 'answered', 30_000);
      await waitFor('others reach it', async () => (await codeOf(far.trigger('near::one', {}))) === 'answered', 30_000);
    }
    line.figure = `hanging=0,end=${Math.round(endMs)}ms`;
    expect(endMs).toBeLessThan(END_MS_MAX);
  });
});
