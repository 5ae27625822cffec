// Engines with the permissions in NATS that docs/operations/cluster.md lists.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clusterYaml, waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/operations/cluster.md'), 'utf8');

/** The configuration of NATS in that page that begins so. */
function natsConfiguration(begin: string): string {
  const block = [...PAGE.matchAll(/```\n# nats\.conf\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  const found = block.find((text) => text.startsWith(begin));
  if (found === undefined) throw new Error(`docs/operations/cluster.md has no block that begins with ${begin}`);
  return found.replaceAll('$SVC_NATS_PASSWORD', '"secret"');
}

async function startEngine(nats: NatsServer, workers: string): Promise<TestEngine> {
  const [before = '', after = ''] = clusterYaml({ nats: nats.url, workers }).split(/(?<=servers: \[[^\]]*\])/);
  return await startTestEngine({ yaml: `${before}, user: svc, password: secret${after}` });
}

describe.skipIf(NO_NATS_SERVER)('engines whose user of NATS has only the listed permissions', () => {
  test.each([['accounts'], ['authorization']])('[CL2] work together with those of %s', async (begin) => {
    const cron = '  - name: svc-cron\n';
    await using nats = await NatsServer.start({ more: natsConfiguration(begin) });
    await using a = await startEngine(nats, cron);
    const b = await startEngine(nats, cron);
    const [near, far] = [connect(a.url), connect(b.url)];
    await waitForEngines(near, 1);
    far.registerFunction('far::double', ({ n }: { n: number }) => 2 * n);
    await waitForFunction(near, 'far::double');
    expect(await near.trigger('far::double', { n: 21 })).toBe(42);
    let ticks = 0;
    near.registerFunction('near::tick', () => {
      ticks++;
    });
    near.registerTrigger({ type: 'cron', function_id: 'near::tick', config: { expression: '* * * * * *' } });
    await waitFor('the schedule ticks', () => ticks > 0, 10_000);
    await b.drain();
    await waitForEngines(near, 0);
    const refused = a.log.filter((line) => /permission/i.test(line));
    expect(refused).toEqual([]);
  });

  test.each([
    ['$JS.API.INFO', '$JS.API.INFO'],
    ['$KV.svc_registry.>', '$KV.svc_registry.cluster.marks'],
    ['$JS.API.STREAM.*.KV_svc_engines', '$JS.API.STREAM.INFO.KV_svc_engines'],
  ])('[CL2] refuse to start without %s, and name it', async (entry, subject) => {
    await using nats = await NatsServer.start({
      more: natsConfiguration('authorization').replace(`"${entry}"`, '"nothing"'),
    });
    await expect(startEngine(nats, '')).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining(`a permission is missing: Permissions Violation for Publish to "${subject}`),
    });
  });
});
