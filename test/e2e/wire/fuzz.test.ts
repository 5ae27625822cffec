// Damaged frames, broken WebSocket and broken HTTP against a running engine (fault tests 33 and 34). Two workers call
// each other throughout and must not be affected. `SVC_FUZZ_FRAMES=100000` is the long form; a failure names its seed,
// and `SVC_TEST_SEED=<seed>` repeats that run.

import { isUtf8 } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { BareSocket, encodeFrame } from '../../support/clients/bare-socket.ts';
import { brokenRequest, protocolAttack } from '../../support/clients/protocol-attacks.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { ONE_PORT, startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { mutatedFrame } from '../../support/random/frame-mutations.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';
import { waitFor } from '../../support/wait-for.ts';

const FRAMES = Number(process.env.SVC_FUZZ_FRAMES ?? 5_000);
/** Percentage of frames that go to WebSocket itself, on connections of their own. */
const PROTOCOL_SHARE = 0.1;
const FRAME_BYTES_MAX = 65_536;
const CONNECTIONS_MAX = 60;
const TIMEOUT_MS = 30_000 + FRAMES * 5;
/** The engine's log lines are kept in this process, one for each damaged frame. */
const HEAP_GROWTH_BYTES_MAX = 16 * 1024 * 1024 + FRAMES * 200;

const limits = `connections: ${CONNECTIONS_MAX}, connections_per_second: 100000, frame_bytes: ${FRAME_BYTES_MAX}`;
const yaml = `drain_timeout_ms: 100\nlimits: {trusted: {${limits}}}\n${ONE_PORT}`;

describe.each([
  { mode: 'as it is', compat: '' },
  { mode: 'in drop-in mode', compat: 'compat: iii\n' },
])('the engine $mode', ({ mode, compat }) => {
  test('[fault 33] drops damaged frames, keeps their connection, and serves all others', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const line = faultLine('33', `damaged frames, engine ${mode}`, 'crashes=0');
    await forEachSeedInTurn(1, async (random) => {
      await using engine = await startTestEngine({ yaml: compat + yaml });
      await using pair = await HealthyPair.start(engine.url);
      const count = (FRAMES * (1 - PROTOCOL_SHARE)) / 2;
      expect(await pair.callUntil(sendMutations(engine, random, count))).toBeGreaterThan(10);
      expectUnharmed(engine);
      line.figure = `crashes=0,frames=${count}`;
      expect(engine.counters.get('frames.refused')).toBeGreaterThan(count / 4);
    });
  });
});

test('[fault 33] broken WebSocket at most ends its own connection, and leaks no place', {
  timeout: TIMEOUT_MS,
}, async () => {
  await forEachSeedInTurn(1, async (random) => {
    await using engine = await startTestEngine({ yaml });
    await using pair = await HealthyPair.start(engine.url);
    expect(await pair.callUntil(sendAttacks(engine, random, FRAMES * PROTOCOL_SHARE))).toBeGreaterThan(10);
    expectUnharmed(engine);
    await expectAllPlacesFree(engine);
  });
});

test('[fault 33] broken HTTP opens no connection, and leaks no place', { timeout: TIMEOUT_MS }, async () => {
  await forEachSeedInTurn(1, async (random) => {
    await using engine = await startTestEngine({ yaml });
    await using pair = await HealthyPair.start(engine.url);
    expect(await pair.callUntil(sendBrokenRequests(engine, random, FRAMES / 25))).toBeGreaterThan(10);
    expectUnharmed(engine);
    await expectAllPlacesFree(engine);
  });
});

const PING = Buffer.from('ping');
const PONG = '\x8a\x04ping';

test('[fault 34] endless fragments of one byte are cut off near the message limit', {
  timeout: TIMEOUT_MS,
}, async () => {
  const line = faultLine('34', 'tiny fragments', 'bytes before the end<20000');
  const connections = 20;
  let mostSent = 0;
  await using engine = await startTestEngine({
    yaml: `drain_timeout_ms: 100\nlimits: {trusted: {frame_bytes: 4096}}\n${ONE_PORT}`,
  });
  await using pair = await HealthyPair.start(engine.url);
  const countsFragments = engine.transport.startsWith('ws');
  const dribble = async (): Promise<void> => {
    await using socket = await BareSocket.upgrade(engine.port);
    await socket.writeAll(encodeFrame({ opcode: 1, payload: Buffer.from('{'), fin: false }));
    const fragment = encodeFrame({ opcode: 0, payload: Buffer.from(' '), fin: false });
    const fragments = Buffer.concat([...Array(512).fill(fragment), encodeFrame({ opcode: 9, payload: PING })]);
    let sent = 0;
    for (; socket.isOpen && sent < 100_000; sent += 512) {
      await socket.writeAll(fragments);
      // Nothing more until the engine has read them.
      const pongs = sent / 512 + 1;
      await waitFor('the pong', () => !socket.isOpen || socket.received.split(PONG).length > pongs, 15_000);
    }
    await socket.thrownOut('a message without end');
    mostSent = Math.max(mostSent, sent);
    line.figure = `bytes before the end=${mostSent}`;
    expect(sent).toBeLessThan(20_000);
    if (countsFragments) expect(socket.received).toContain('at most 1024 fragments');
  };
  const dribbles = Array.from({ length: connections }, dribble);
  expect(await pair.callUntil(Promise.all(dribbles))).toBeGreaterThan(0);
  // uWebSockets.js knows the size of a message and not the number of its fragments, which `ws` ends far below (PD-28).
  await expectCount(engine, countsFragments ? 0 : connections, 'connections.closed', 'message_too_big');
});

/** Damaged frames on connections that must survive them, each closed at its end without waiting. */
async function sendMutations(engine: TestEngine, random: SeededRandom, count: number): Promise<void> {
  const perConnection = 100;
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let sent = 0; sent < count; ) {
    await using worker = await RawWorker.connect(engine.url);
    for (const end = sent + perConnection; sent < end; sent++) {
      const frame = mutatedFrame(random);
      // Text that is not UTF-8 violates WebSocket and belongs to the other test.
      worker.socket.send(frame, { binary: !isUtf8(frame) || random.chance(30) });
    }
    expect(await worker.call('engine::health::check')).toMatchObject({ result: { status: 'healthy' } });
    if (sent <= count / 2) heapBytes = collectedHeapBytes();
  }
  expect(collectedHeapBytes() - heapBytes).toBeLessThan(HEAP_GROWTH_BYTES_MAX);
}

async function sendAttacks(engine: TestEngine, random: SeededRandom, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await using socket = await BareSocket.upgrade(engine.port, random.pick(['/', '/otel']));
    const attack = protocolAttack(random, FRAME_BYTES_MAX);
    await socket.writeAll(attack.bytes);
    if (attack.endsConnection) await socket.thrownOut(attack.name);
  }
}

async function sendBrokenRequests(engine: TestEngine, random: SeededRandom, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await using socket = await BareSocket.dial(engine.port);
    const request = brokenRequest(random);
    await socket.writeAll(request);
    // The engine has had the time of one call of the healthy pair to handle it.
    await using caller = await RawWorker.connect(engine.url);
    await caller.settled();
    expect(socket.received, JSON.stringify(request.toString('latin1').slice(0, 300))).not.toContain(' 101 ');
  }
}

/** Checks that nothing inside the engine has failed, and that nothing global was changed. */
function expectUnharmed(engine: TestEngine): void {
  expect(engine.log.filter((line) => line.includes(' ERROR '))).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { x?: unknown }).x).toBeUndefined();
}

/** Checks that every connection of the limit can be opened, in addition to the healthy pair: no place has leaked. */
async function expectAllPlacesFree(engine: TestEngine): Promise<void> {
  const workers: RawWorker[] = [];
  for (let place = 2; place < CONNECTIONS_MAX; place++) {
    workers.push(await waitFor(`place ${place} is free`, () => RawWorker.connect(engine.url).catch(() => undefined)));
  }
  await expect(RawWorker.connect(engine.url)).rejects.toThrow('503');
  for (const worker of workers) await worker[Symbol.asyncDispose]();
}

function collectedHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}
