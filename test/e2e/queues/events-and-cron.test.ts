// Events and cron with the SDK and the command line, and with an engine that is killed.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CronTick, cron, event, registerWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { RedisServer } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runSvc } from '../cli/cli-process.ts';

const PORT = '  - {name: svc-worker-manager, config: {port: 0}}\n';
const IN_MEMORY =
  'drain_timeout_ms: 100\nworkers:\n' +
  `${PORT}  - name: svc-pubsub\n` +
  '  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}\n';
const TOPIC_A = { topic: 'a' };

describe('events and cron', () => {
  test('[modules 8] an event of the SDK or the command line reaches the functions of its topic', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const svc = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 0 });
    const heard: unknown[] = [];
    const welcome = svc.registerFunction('mail::welcome', (data: unknown) => void heard.push(data));
    await svc.registerTrigger({ ...event('user.*'), function_id: welcome }).ready();
    await svc.emit('user.created', { id: 7 });
    await svc.emit('order.created', { id: 8 });
    await expect(svc.emit('')).rejects.toMatchObject({ code: 'topic_not_set' });
    const done = await runSvc(['event', 'emit', 'user.left', '{"id":9}', '--json'], { env: { SVC_URL: engine.url } });
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject([{ trigger_type: 'event', function_id: 'mail::welcome' }]);
    await waitFor('both events have arrived', () => heard.length === 2);
    expect(heard).toEqual([{ id: 7 }, { id: 9 }]);
    await svc.shutdown();
  });

  test('[modules 8] an event reaches its functions as its original text', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    await using worker = await RawWorker.connect(engine.url);
    const frames: string[] = [];
    worker.socket.on('message', (text) => frames.push(String(text)));
    await worker.serve('on::topic', () => null);
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'event', function_id: 'on::topic', config: TOPIC_A });
    await worker.settled();
    const data = '{"n":12345678901234567890,"z":-0,"d":1.50,"n":1e400}';
    const calls = [
      ['publish', `{"topic":"a","data":0,"d\\u0061ta":${data}}`],
      ['engine::events::emit', `{"topic":"a","data":null,"payload":${data}}`],
      ['engine::triggers::fire', `{"id":"t","payload":${data}}`],
    ];
    for (const [id, payload] of calls) {
      worker.socket.send(`{"type":"invokefunction","function_id":"${id}","data":${payload}}`);
    }
    const heard = () => frames.filter((text) => text.includes('"on::topic"') && text.includes(`"data":${data}`));
    await waitFor('all events have arrived', () => heard().length === calls.length);
  });

  test('[console 6.4] a cron trigger is listed with its next time, and can be fired by hand', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const svc = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 0 });
    const ticks: CronTick[] = [];
    const build = svc.registerFunction('reports::build', (tick: CronTick) => void ticks.push(tick));
    const nightly = svc.registerTrigger({ ...cron('0 0 0 1 1 * 2190'), function_id: build });
    await nightly.ready();
    const wrong = svc.registerTrigger({ ...cron('61 * * * *'), function_id: build });
    await expect(wrong.ready()).rejects.toThrow("the minute '61' at character 1 must be 0 to 59");
    const env = { SVC_URL: engine.url };
    const list = await runSvc(['triggers', 'list', '--type', 'cron', '--json'], { env });
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({ id: nightly.id, next_fire_time: '2190-01-01T00:00:00.000Z' }),
    );
    const fired = await runSvc(['triggers', 'fire', nightly.id], { env });
    expect(fired.code).toBe(0);
    await waitFor('it has run', () => ticks.length === 1);
    expect(ticks).toMatchObject([{ trigger: 'cron', job_id: nightly.id, manual: true }]);
    expect(await runSvc(['triggers', 'fire', 'absent'], { env })).toMatchObject({ code: 3 });
    await svc.shutdown();
  });
});

describe('an engine with events in a Redis', () => {
  function withRedis(url: string): string {
    const adapter = `{name: extstore, config: {extstore_url: '${url}'}}`;
    return `drain_timeout_ms: 100\nworkers:\n${PORT}  - {name: svc-pubsub, config: {adapter: ${adapter}}}\n`;
  }

  test('[K2] [K3] reports the state of the Redis in health, and fails at once while it is away', async () => {
    await using redis = await RedisServer.start();
    await using engine = await startTestEngine({ yaml: withRedis(redis.url) });
    await using worker = await RawWorker.connect(engine.url);
    const health = async (): Promise<unknown> => {
      const { result } = await worker.call('engine::health::check');
      return Object(result).components.modules['svc-pubsub'];
    };
    expect(await health()).toMatchObject({ status: 'healthy', adapter: 'extstore' });
    await redis.stop();
    await waitFor('health is unhealthy', async () => Object(await health()).status === 'unhealthy');
    expect(await health()).toMatchObject({ adapter: 'extstore', details: { trouble: expect.any(String) } });
    expect((await worker.call('publish', { topic: 'a' })).error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await redis.start();
    await waitFor('health is healthy again', async () => Object(await health()).status === 'healthy', 10_000);
    expect((await worker.call('publish', { topic: 'a' })).error).toBeUndefined();
  });

  test('[K2] does not start with an invalid address', async () => {
    await using engine = await EngineProcess.spawn(withRedis('redis://:wrong-password@127.0.0.1:x'));
    expect(await engine.end(15_000)).toMatchObject({ code: 78 });
    expect(engine.stderr).not.toContain('wrong-password');
  });
});

describe('an engine that is killed between ticks', () => {
  const TRIGGERS = 100;

  test('[CR1] [fault 48] runs no tick twice, and loses only those of the outage', { timeout: 60_000 }, async () => {
    const line = faultLine('48', 'cron precision', 'double=0,lost=0');
    const folder = await mkdtemp(join(tmpdir(), 'svc-cron-'));
    const store = `{store_method: file_based, file_path: '${folder}'}`;
    const yaml = `workers:\n${PORT}  - {name: svc-cron, config: {adapter: {name: kv, config: ${store}}}}\n`;
    const runs = new Map<string, number>();
    const lateMs: number[] = [];
    const seconds = new Set<number>();
    const serve = async (engine: EngineProcess): Promise<RawWorker> => {
      const worker = await RawWorker.connect(engine.url);
      await worker.serve('job', (data, { metadata }) => {
        const atMs = Date.parse(Object(data).scheduled_time);
        const tick = `${JSON.stringify(metadata)} ${atMs}`;
        runs.set(tick, (runs.get(tick) ?? 0) + 1);
        lateMs.push(Date.now() - atMs);
        seconds.add(atMs / 1_000);
      });
      for (let index = 0; index < TRIGGERS; index++) {
        const ids = { id: `t${index}`, trigger_type: 'cron', function_id: 'job' };
        worker.send({ type: 'registertrigger', ...ids, config: { expression: '* * * * * *' }, metadata: { index } });
      }
      await worker.settled();
      return worker;
    };
    await using first = await EngineProcess.start(yaml);
    const worker = await serve(first);
    await waitFor('some seconds have passed', () => seconds.size >= 3, 10_000);
    const killedS = Math.max(...seconds);
    // The kill is within the next second.
    await waitFor('the next second has begun', () => seconds.has(killedS + 1));
    first.kill('SIGKILL');
    await first.ended;
    await worker[Symbol.asyncDispose]();
    const outageMs = Date.now();
    await using second = await EngineProcess.start(yaml);
    await using again = await serve(second);
    const backS = Math.ceil(Date.now() / 1_000);
    await waitFor('the next engine ticks', () => [...seconds].filter((at) => at >= backS).length >= 3, 20_000);
    await again.settled();
    const double = [...runs].filter(([, count]) => count > 1);
    expect(double).toEqual([]);
    const whole = [...seconds].filter((at) => at <= killedS || (at > backS && at < Math.max(...seconds)));
    const lost = whole.flatMap((at) =>
      Array.from({ length: TRIGGERS }, (_, index) => `{"index":${index}} ${at * 1_000}`).filter(
        (tick) => !runs.has(tick),
      ),
    );
    // The first second may begin before all triggers are registered.
    const unexcused = lost.filter((tick) => !tick.endsWith(` ${Math.min(...seconds) * 1_000}`));
    lateMs.sort((a, b) => a - b);
    const lateP99Ms = lateMs[Math.floor(lateMs.length * 0.99)];
    const away = `ms away=${backS * 1_000 - outageMs}`;
    line.figure = `double=${double.length},lost=${unexcused.length},ticks=${runs.size},late p99 ms=${lateP99Ms},${away}`;
    expect(unexcused).toEqual([]);
    await rm(folder, { recursive: true, force: true });
  });
});
