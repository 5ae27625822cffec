// Fault 27: one subscriber of many reads hardly anything while events are written. The long form has the numbers of the
// catalogue; `SVC_FAULT_ROUNDS` sets its duration.

import { setInterval } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { registerWorker, type SvcWorker, Void } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ChildPart } from '../../support/load/child-part.ts';
import { p99, Watcher } from '../../support/load/event-crowd.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS, faultRandom } from '../../support/load/fault-tools.ts';
import type { SeededRandom } from '../../support/random/seeded-random.ts';
import { streamClientsOf, streamYaml } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const SUBSCRIBERS = 20;
/** Before the slow one: with fewer the engine's memory still grows by itself. */
const EVENTS = 6_000;
const MIB = 1024 * 1024;
/** The variation of the heap within one run, and the buffer of the slow one. */
const NOISE_BYTES_MAX = 48 * MIB;
const ROOM = { stream_name: 'chat', group_id: 'room' };
const PATH = '/stream/chat/room';
const LIMITS = 'limits: {stream: {connections_per_second: 10000}}';

const CROWD = 1_000;
const WATCHERS = 5;
const EVENTS_PER_SECOND = 2_000;
const PACE_MS = 10;
/**
 * How long events are written with all subscribers reading; with the slow one until it is closed, and as long again.
 */
const PHASE_MS = FAULT_ROUNDS * 300;
const GROWTH_MIB_MAX = 8;
const P99_RATIO_MAX = 1.2;
/** The system's own buffers hold megabytes of unread data. */
const CLOSED_MS_MAX = 180_000;

test('[T5] [fault 27] it is closed with 4408, the others get every event, and memory stays', {
  timeout: 60_000 + EVENTS * 20,
}, async () => {
  const line = faultLine('27', 'slow subscriber', 'close code=4408');
  await using engine = await EngineProcess.start(streamYaml('', LIMITS));
  const [workers = '', streams = ''] = engine.urls;
  await using worker = await RawWorker.connect(workers);
  const good: StreamClient[] = [];
  while (good.length < SUBSCRIBERS) good.push(await StreamClient.connect(streams, PATH));
  await using slow = await StreamClient.connect(streams, PATH, { autoPong: false });
  await slow.nextOf('sync');
  for (const client of good) await client.nextOf('sync');
  const data = 'x'.repeat(4_000);
  let sent = 0;
  let highest = 0;
  const write = async (events: number): Promise<void> => {
    for (const end = sent + events; sent < end; ) {
      const calls = Array.from({ length: 100 }, () => worker.call('stream::send', { ...ROOM, type: 'e', data }));
      await Promise.all(calls);
      sent += 100;
      for (const client of good) await client.until(({ seq }) => seq === sent);
      highest = Math.max(highest, engine.rssBytes);
    }
  };
  // First with all subscribers reading: a young process grows in any case.
  await write(EVENTS);
  await slow.until(({ seq }) => seq === sent);
  const usual = highest;
  slow.socket.pause();
  // The system's own buffers take some megabytes before anything is unread for the engine.
  await waitFor(
    'the engine lets it go',
    async () => {
      // It sends pings: on a busy machine its silence would end it before its buffer does.
      slow.socket.ping();
      await write(200);
      return (await streamClientsOf(worker)) === SUBSCRIBERS;
    },
    60_000 + EVENTS * 10,
  );
  slow.socket.resume();
  line.figure = `close code=${(await slow.closed).code}`;
  expect((await slow.closed).code).toBe(4408);
  for (const client of good) {
    expect(client.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: sent + 1 }, (_, seq) => seq));
  }
  expect(highest - usual).toBeLessThan(NOISE_BYTES_MAX);
  await Promise.all(good.map((client) => client[Symbol.asyncDispose]()));
});

test.runIf(IS_LONG)(
  `[T5] [fault 27] 1 of ${CROWD} reads 1 KiB a second while ${EVENTS_PER_SECOND} events are written`,
  {
    timeout: 120_000 + CLOSED_MS_MAX + 3 * PHASE_MS,
  },
  async () => {
    const limit = `close code=4408,p99 ratio<=${P99_RATIO_MAX},MiB<=${GROWTH_MIB_MAX},offences=0`;
    const line = faultLine('27', 'slow subscriber of 1000', limit);
    const random = faultRandom('27');
    await using engine = await EngineProcess.start(streamYaml('', LIMITS));
    const [workers = '', streams = ''] = engine.urls;
    const svc = registerWorker(workers, { handle_signals: false, log: () => {} });
    await using worker = await RawWorker.connect(workers);
    const watchers = await Promise.all(Array.from({ length: WATCHERS }, () => Watcher.connect(streams, PATH)));
    await using crowd = await ChildPart.start('./crowd-main.ts', [streams, PATH, String(CROWD - WATCHERS)]);
    // A young process grows whatever happens: what the second of two equal phases takes is the usual.
    await writeFor(engine, svc, random, PHASE_MS);
    for (const watcher of watchers) watcher.latenciesMs = [];
    const usualBytes = await writeFor(engine, svc, random, PHASE_MS);
    const usualP99 = p99(watchers.flatMap(({ latenciesMs }) => latenciesMs));
    for (const watcher of watchers) watcher.latenciesMs = [];
    crowd.send('slow');
    let highest = 0;
    const endMs = performance.now() + CLOSED_MS_MAX;
    while ((await streamClientsOf(worker)) === CROWD) {
      if (performance.now() > endMs) throw new Error('The slow one was not closed in time');
      highest = Math.max(highest, await writeFor(engine, svc, random, 1_000));
    }
    crowd.send('on');
    const { closeCode } = (await crowd.says()) as { closeCode?: number };
    highest = Math.max(highest, await writeFor(engine, svc, random, PHASE_MS));
    const ratio = p99(watchers.flatMap(({ latenciesMs }) => latenciesMs)) / usualP99;
    const offences = watchers.flatMap((watcher) => watcher.offences);
    const growth = Math.max(0, highest - usualBytes) / MIB;
    const figures = [`close code=${closeCode}`, `p99 ratio=${ratio.toFixed(2)}`, `p99 ms=${usualP99.toFixed(1)}`];
    line.figure = [...figures, `MiB=${growth.toFixed(1)}`, `offences=${offences.length}`].join();
    expect(closeCode).toBe(4408);
    expect(offences).toEqual([]);
    expect(await streamClientsOf(worker)).toBe(CROWD - 1);
    for (const watcher of watchers) watcher[Symbol.dispose]();
    await svc.shutdown();
    expect(growth).toBeLessThanOrEqual(GROWTH_MIB_MAX);
    expect(ratio).toBeLessThanOrEqual(P99_RATIO_MAX);
  },
);

/** Writes at its pace for that long; returns the most memory that the engine had. */
async function writeFor(engine: EngineProcess, svc: SvcWorker, random: SeededRandom, ms: number): Promise<number> {
  const startMs = performance.now();
  let [sent, highest] = [0, 0];
  for await (const _ of setInterval(PACE_MS)) {
    const passedMs = Math.min(performance.now() - startMs, ms);
    for (const owed = (passedMs * EVENTS_PER_SECOND) / 1_000; sent < owed; sent++) {
      const data = { at: performance.now(), pad: 'x'.repeat(random.below(200)) };
      const payload = { ...ROOM, type: 'e', data };
      void svc.trigger({ function_id: 'stream::send', payload, action: Void() });
    }
    highest = Math.max(highest, engine.rssBytes);
    if (passedMs >= ms) return highest;
  }
  throw new Error('The clock has stopped');
}
