// Faults 50 and 55: brokers that end, restart or lose their connections under load. No receipt is given for a job that
// is not in the broker, no confirmed job is lost, and work continues by itself within 10 s.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import type { SeededRandom } from '../../support/random/seeded-random.ts';
import { BROKERS, Broker } from '../../support/stores/brokers.ts';
import { JobLedger } from '../../support/stores/job-ledger.ts';
import { NO_RABBITMQ_SERVER, RabbitServer } from '../../support/stores/rabbit-server.ts';
import { NO_REDIS_SERVER, RedisServer } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);
const PRODUCERS = 16;
const RESUME_MS_MAX = 10_000;

interface Fault {
  readonly ledger: JobLedger;
  readonly random: SeededRandom;
  strike(): Promise<void> | void;
  mend(): Promise<void> | void;
}

/** Faults while jobs come and go; waits each time until they do so again. */
async function underLoad(
  url: string,
  { ledger, random, strike, mend }: Fault,
  strikes: number = ROUNDS,
): Promise<string[]> {
  await using producer = await RawWorker.connect(url);
  await using worker = await RawWorker.connect(url);
  await ledger.serve(worker, 'job');
  ledger.produce(producer, 'job', PRODUCERS, { goesOn: true });
  for (let round = 0; round < strikes; round++) {
    const goal = ledger.ends.size + random.between(20, 400);
    await waitFor('jobs come and go', () => ledger.ends.size >= goal, 30_000);
    await strike();
    await mend();
    await ledger.passes(producer, 'job', RESUME_MS_MAX);
  }
  producer.close();
  return await ledger.lost(worker);
}

for (const kind of BROKERS) {
  describe.skipIf(kind.refusal)(`connections to ${kind.name} that are lost ${kind.refusal ?? ''}`, () => {
    test('[Q1] [K3] [fault 55] lose no job that has a receipt, and the work continues', {
      timeout: 40_000 + ROUNDS * 20_000,
    }, async () => {
      const line = faultLine('55', `connections lost to ${kind.name}`, 'lost=0');
      await using broker = await Broker.behindProxy(kind);
      await using engine = await startTestEngine({ yaml: broker.yaml() });
      const lost = await underLoad(engine.url, {
        ledger: new JobLedger(),
        random: faultRandom('55'),
        strike: () => broker.proxy.close(),
        mend: () => broker.proxy.reopen(),
      });
      line.figure = `lost=${lost.length}`;
      expect(lost).toEqual([]);
    });
  });
}

describe.skipIf(NO_REDIS_SERVER)(`a Redis that is killed ${NO_REDIS_SERVER ?? ''}`, () => {
  test('[Q1] [Q8] loses no job that has a receipt', { timeout: 40_000 + ROUNDS * 20_000 }, async () => {
    const line = faultLine('55', 'redis killed', 'lost=0');
    using folder = new TemporaryFolder();
    await using redis = await RedisServer.reserve();
    await redis.start(folder.path);
    const adapter = `{name: extstore, config: {extstore_url: '${redis.url}'}}`;
    const queue = `  - {name: svc-queue, config: {adapter: ${adapter}}}\n`;
    const yaml = `drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${queue}`;
    await using engine = await startTestEngine({ yaml });
    const lost = await underLoad(engine.url, {
      ledger: new JobLedger(),
      random: faultRandom('55'),
      strike: () => redis.stop(),
      mend: () => redis.start(folder.path),
    });
    line.figure = `lost=${lost.length}`;
    expect(lost).toEqual([]);
  });

  test('[K3] [fault 50] that is away at the start is waited for', { timeout: 30_000 }, async () => {
    const line = faultLine('50', 'redis away at the start', 'started');
    await using redis = await RedisServer.reserve();
    const adapter = `{name: extstore, config: {extstore_url: '${redis.url}'}}`;
    const queue = `  - {name: svc-queue, config: {adapter: ${adapter}}}\n`;
    const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${queue}`;
    await using engine = await EngineProcess.spawn(yaml);
    await waitFor('the log reports that Redis is away', () => engine.stderr.includes('Redis is away'), 10_000);
    await redis.start();
    await waitFor('the engine runs', () => / is running$/m.test(engine.stderr), 15_000);
    line.figure = 'started';
  });
});

describe.skipIf(NO_RABBITMQ_SERVER)(`a RabbitMQ that restarts ${NO_RABBITMQ_SERVER ?? ''}`, () => {
  // In order first: 3.10.8 writes the name of a quorum queue's log down some time within a second after the declaration
  // (Ra's names.dets). Killed before that, it starts the queue with an empty log without a leader: what was confirmed
  // is gone, and nothing is confirmed any more, also after another restart (seen at 0.3 and 0.8 s, not at 1.5 and 4 s).
  const signals = (['SIGTERM', 'SIGKILL'] as const).flatMap((signal) =>
    Array.from({ length: rounds(1) }, () => signal),
  );

  test('[Q1] [Q8] loses no job that has a receipt, and uses no attempt', {
    timeout: 120_000 + signals.length * 60_000,
  }, async () => {
    const line = faultLine('55', 'rabbitmq restarted', 'lost=0,not done=0,retried=0');
    await using rabbit = await RabbitServer.start();
    const adapter = `{name: rabbitmq, config: {amqp_url: '${rabbit.url}'}}`;
    const queue = `  - {name: svc-queue, config: {adapter: ${adapter}}}\n`;
    const yaml = `drain_timeout_ms: 300\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${queue}`;
    await using engine = await startTestEngine({ yaml });
    const ledger = new JobLedger();
    const left = signals.values();
    const fault: Fault = {
      ledger,
      random: faultRandom('55'),
      strike: () => rabbit.stop(left.next().value ?? 'SIGKILL'),
      mend: () => rabbit.start(),
    };
    const lost = await underLoad(engine.url, fault, signals.length);
    const notDone = [...ledger.receipts].filter((receipt) => !ledger.ends.has(receipt));
    line.figure = `lost=${lost.length},not done=${notDone.length},retried=${ledger.retried.size}`;
    expect({ lost, notDone, retried: [...ledger.retried] }).toEqual({ lost: [], notDone: [], retried: [] });
  });
});

for (const kind of BROKERS) {
  describe.skipIf(kind.refusal)(`an engine that is killed with jobs in ${kind.name} ${kind.refusal ?? ''}`, () => {
    test('[Q1] [R2] leaves every job that has a receipt to the next engine', {
      timeout: 40_000 + ROUNDS * 20_000,
    }, async () => {
      const line = faultLine('55', `engine killed with ${kind.name}`, 'lost=0,retried=0');
      await using broker = await Broker.behindProxy(kind);
      const ledger = new JobLedger();
      const random = faultRandom('55');
      for (let round = 0; round < ROUNDS; round++) {
        await using engine = await EngineProcess.start(broker.yaml('{}', { isDirect: true }));
        await using producer = await RawWorker.connect(engine.url);
        await using worker = await RawWorker.connect(engine.url);
        await ledger.serve(worker, 'job');
        const goal = ledger.receipts.size + random.between(1, 400);
        ledger.produce(producer, 'job', PRODUCERS);
        await waitFor('the producers are at work', () => ledger.receipts.size >= goal, 15_000);
        engine.kill('SIGKILL');
        await engine.end(5_000);
      }
      await using engine = await EngineProcess.start(broker.yaml('{}', { isDirect: true }));
      await using worker = await RawWorker.connect(engine.url);
      await ledger.serve(worker, 'job');
      expect(await ledger.lost(worker)).toEqual([]);
      line.figure = `lost=0,retried=${ledger.retried.size}`;
      expect(ledger.retried.size).toBe(0);
    });
  });
}
