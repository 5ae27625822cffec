// Fault 60: kill -9 of engines that run schedules of every second whose clocks differ (M7 of the
// guarantees).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { clusterYaml, statusOf } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(2);
/** How far the clock of each engine is from the real time. */
const CLOCKS_MS = [300, -300, 0];
const CLOCK = new URL('../../support/cluster/other-clock.mjs', import.meta.url);
const SCHEDULES = ROUNDS > 2 ? 100 : 25;
/** Further ticks of each schedule before the next kill. */
const TICKS_BETWEEN = 3;

/** The moments at which each schedule ran. */
class Ticks {
  readonly #moments = Array.from({ length: SCHEDULES }, () => new Map<number, number>());

  add(schedule: number, moment: string): void {
    const moments = this.#moments[schedule];
    const atMs = Date.parse(moment);
    moments?.set(atMs, (moments.get(atMs) ?? 0) + 1);
  }

  /** Of the schedule that ran least. */
  get least(): number {
    return Math.min(...this.#moments.map(({ size }) => size));
  }

  get twice(): number {
    return this.#moments.flatMap((moments) => [...moments.values()]).filter((times) => times > 1).length;
  }

  /** Seconds without a tick, of the schedule that missed most. */
  get missed(): number {
    const missedOf = (moments: ReadonlyMap<number, number>): number => {
      const seconds = [...moments.keys()].map((ms) => ms / 1_000);
      return Math.max(...seconds) - Math.min(...seconds) + 1 - seconds.length;
    };
    return Math.max(...this.#moments.map(missedOf));
  }
}

describe.skipIf(NO_NATS_SERVER)('three engines that run schedules, of which one is killed', () => {
  test('[fault 60] [CL22] whose clocks differ by 600 ms run no tick twice, and each schedule loses one tick at most for each kill', {
    timeout: 120_000 + ROUNDS * 60_000,
  }, async () => {
    const line = faultLine('60', 'killed schedules', `twice=0,missed<=${ROUNDS}`);
    const random = faultRandom('60');
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({
      ...{ nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: '  - name: svc-cron\n' },
    });
    const ports = await Promise.all(CLOCKS_MS.map(() => freePort()));
    const start = (port: number, index: number): Promise<EngineProcess> =>
      EngineProcess.start(yaml.replace('config: {port: 0}', `config: {port: ${port}}`), {
        preload: `${CLOCK}?ms=${CLOCKS_MS[index]}`,
      });
    const engines = await Promise.all(ports.map(start));
    const urls = ports.map((port) => `ws://127.0.0.1:${port}`);
    const ticks = new Ticks();
    /** Each begins at another engine. */
    const clients = urls.map((_, index) =>
      registerWorker([...urls.slice(index), ...urls.slice(0, index)].join(), { handle_signals: false, log: () => {} }),
    );
    try {
      for (const client of clients) {
        for (let schedule = 0; schedule < SCHEDULES; schedule++) {
          const functionId = `clock::tick${schedule}`;
          client.registerFunction(functionId, ({ scheduled_time: moment }: { scheduled_time: string }) => {
            ticks.add(schedule, moment);
          });
          client.registerTrigger({ type: 'cron', function_id: functionId, config: { expression: '* * * * * *' } });
        }
      }
      for (let round = 0; round < ROUNDS; round++) {
        const before = ticks.least;
        await waitFor('all schedules run', () => ticks.least >= before + TICKS_BETWEEN, 60_000);
        const victim = random.below(CLOCKS_MS.length);
        engines[victim]?.kill('SIGKILL');
        await engines[victim]?.ended;
        engines[victim] = await start(ports[victim] ?? 0, victim);
        const upAt = async (client: (typeof clients)[number]) =>
          (await statusOf(client)).engines.filter(({ status }) => status === 'up' || status === 'here').length;
        await waitFor(
          'three engines are up',
          async () =>
            (await Promise.all(clients.map((client) => upAt(client).catch(() => 0)))).every(
              (n) => n === CLOCKS_MS.length,
            ),
          30_000,
        );
      }
      const before = ticks.least;
      await waitFor('all schedules run', () => ticks.least >= before + TICKS_BETWEEN, 60_000);
      line.figure = `twice=${ticks.twice},missed=${ticks.missed}`;
      expect(ticks.twice).toBe(0);
      expect(ticks.missed).toBeLessThanOrEqual(ROUNDS);
    } finally {
      await Promise.all(clients.map((client) => client.shutdown()));
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    }
  });
});
