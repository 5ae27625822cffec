// Damaged messages of the binary form (with and without compact payloads), damaged channels and broken WebSocket,
// against a running engine process, on both transports (fault test 33). Workers of both forms call each other
// throughout and must not be affected. `npm run fuzz` is the long form; a failure names its seed, and
// `SVC_TEST_SEED=<seed>` repeats that run.

import { isUtf8 } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FRAME_MESSAGES_MAX } from '../../../src/protocol/binary/binary-messages.ts';
import {
  SUBPROTOCOL_CHANNEL,
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_MSGPACK,
  SUBPROTOCOL_RECORDS,
} from '../../../src/protocol/frames/subprotocols.ts';
import { BareSocket } from '../../support/clients/bare-socket.ts';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { ChannelClient, channelUrl, type Ref } from '../../support/clients/channel-client.ts';
import { protocolAttack } from '../../support/clients/protocol-attacks.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { mutatedBatch } from '../../support/random/binary-mutations.ts';
import { mutatedFrame } from '../../support/random/frame-mutations.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';

const FRAMES = Number(process.env.SVC_FUZZ_FRAMES ?? 4_000);
/** Percentage of frames that go to channels, and to WebSocket itself on connections of their own. */
const CHANNEL_SHARE = 0.1;
const PROTOCOL_SHARE = 0.1;
const FRAMES_PER_CONNECTION = 100;
/** So that a frame with too many messages is refused for their number. */
const FRAME_BYTES_MAX = 20 * FRAME_MESSAGES_MAX;
const TIMEOUT_MS = 40_000 + FRAMES * 5;
const MIB = 1024 * 1024;
/** Allows for garbage that is not collected yet. In the long form, 3 KiB kept for each frame would exceed it. */
const GROWTH_BYTES_MAX = 128 * MIB;

const YAML = `drain_timeout_ms: 100
limits: {trusted: {connections_per_second: 100000, frame_bytes: ${FRAME_BYTES_MAX}}}
${ONE_PORT}`;

describe.each(['uws', 'ws'])('an engine process on %s', (transport) => {
  beforeEach(() => {
    vi.stubEnv('SVC_TRANSPORT', transport);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('[fault 33] drops damaged messages of the binary form, keeps their connection, and serves all others', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const line = faultLine('33', `damaged binary frames on ${transport}`, 'crashes=0');
    const count = FRAMES * (1 - CHANNEL_SHARE - PROTOCOL_SHARE);
    const counters = await underFuzz(count, sendBatches);
    line.figure = `crashes=0,frames=${count}`;
    expect(counters['frames.refused']).toBeGreaterThan(count / 4);
  });

  test('[fault 33] ends only damaged channels, and leaves none open', { timeout: TIMEOUT_MS }, async () => {
    await underFuzz(FRAMES * CHANNEL_SHARE, sendToChannels);
  });

  test('[fault 33] survives broken WebSocket on every path that it serves', { timeout: TIMEOUT_MS }, async () => {
    await underFuzz(FRAMES * PROTOCOL_SHARE, sendAttacks);
  });
});

type Fuzz = (engine: EngineProcess, random: SeededRandom, count: number) => Promise<void>;

/** Runs it in two halves; after the second the engine must be as healthy as after the first. Returns its counters. */
async function underFuzz(count: number, fuzz: Fuzz): Promise<Record<string, number>> {
  let counters: Record<string, number> = {};
  await forEachSeedInTurn(1, async (random) => {
    await using engine = await EngineProcess.start(YAML);
    await using json = await HealthyPair.start(engine.url);
    await using binary = await HealthyPair.startBinary(engine.url);
    let restBytes = 0;
    const both = async (): Promise<void> => {
      await fuzz(engine, random, Math.ceil(count / 2));
      restBytes = engine.rssBytes;
      await fuzz(engine, random, Math.ceil(count / 2));
    };
    const fuzzed = both();
    const calls = await Promise.all([json.callUntil(fuzzed), binary.callUntil(fuzzed)]);
    expect(Math.min(...calls)).toBeGreaterThan(3);
    counters = await expectUnharmed(engine);
    const growthBytes = engine.rssBytes - restBytes;
    process.stdout.write(
      `${count} frames next to ${calls.join(' and ')} calls: memory ${Math.round(growthBytes / 1024)} KiB more\n`,
    );
    expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
  });
  return counters;
}

async function sendBatches(engine: EngineProcess, random: SeededRandom, count: number): Promise<void> {
  for (let sent = 0; sent < count; ) {
    const form = random.pick([SUBPROTOCOL_MSGPACK, SUBPROTOCOL_COMPACT, SUBPROTOCOL_RECORDS, 'json']);
    await using client =
      form === 'json' ? await RawWorker.connect(engine.url) : await BinaryClient.connect(engine.url, form);
    for (const end = sent + FRAMES_PER_CONNECTION; sent < end; sent++) {
      const frame = random.chance(90) ? mutatedBatch(random, 'fromWorker') : mutatedFrame(random);
      // Text that is not UTF-8 violates WebSocket and belongs to another test.
      client.socket.send(frame, { binary: !isUtf8(frame) || random.chance(90) });
    }
    const answer = await client.call('engine::health::check', {});
    expect('value' in answer ? answer.value : answer.result).toMatchObject({ status: 'healthy' });
  }
}

/** Random data in both directions of channels whose ends do and do not use credit. */
async function sendToChannels(engine: EngineProcess, random: SeededRandom, count: number): Promise<void> {
  await using caller = await RawWorker.connect(engine.url);
  for (let sent = 0; sent < count; ) {
    const { result } = await caller.call('engine::channels::create', { buffer_size: random.pick([null, 1, 64]) });
    const ends = Object.values(result as Record<string, Ref>);
    const clients = await Promise.all(
      random.shuffle(ends).map((ref) => {
        const subprotocols = random.chance(50) ? [SUBPROTOCOL_CHANNEL] : [];
        return ChannelClient.dial(channelUrl(engine.url, ref), { subprotocols });
      }),
    );
    for (const end = sent + random.between(1, 30); sent < end; sent++) {
      const frame = random.chance(50) ? mutatedGrant(random) : mutatedBatch(random, 'fromWorker');
      random.pick(clients).socket.send(frame, { binary: !isUtf8(frame) || random.chance(50) });
    }
    await caller.settled();
    for (const client of random.shuffle(clients)) {
      if (random.chance(50)) client.socket.close(1000);
      else client.socket.terminate();
    }
    await Promise.all(clients.map((client) => client.end()));
  }
}

function mutatedGrant(random: SeededRandom): Buffer {
  const numbers = ['1', '0', '-1', '1e999', '1.5', '"1"', 'null', '9007199254740993', '4294967296'];
  const grant = `{"type":"credit","frames":${random.pick(numbers)},"bytes":${random.pick(numbers)}}`;
  return Buffer.from(random.chance(80) ? grant : grant.slice(0, random.below(grant.length)));
}

async function sendAttacks(engine: EngineProcess, random: SeededRandom, count: number): Promise<void> {
  const port = Number(new URL(engine.url).port);
  await using caller = await RawWorker.connect(engine.url);
  for (let sent = 0; sent < count; sent++) {
    const [path, subprotocol] = random.pick([
      ['/', SUBPROTOCOL_MSGPACK],
      ['/', undefined],
      ['/otel', undefined],
      ['channel', SUBPROTOCOL_CHANNEL],
      ['channel', undefined],
    ] as const);
    await using socket = await BareSocket.upgrade(
      port,
      path === 'channel' ? await newChannelPath(caller, random) : path,
      subprotocol,
    );
    const attack = protocolAttack(random, FRAME_BYTES_MAX);
    await socket.writeAll(attack.bytes);
    if (attack.endsConnection) await socket.thrownOut(attack.name);
  }
}

/** An end of a channel that no other worker uses. */
async function newChannelPath(caller: RawWorker, random: SeededRandom): Promise<string> {
  const { result } = await caller.call('engine::channels::create', {});
  const { pathname, search } = new URL(channelUrl('ws://x', random.pick(Object.values(result as Record<string, Ref>))));
  return pathname + search;
}

/** Checks that it answers, and has logged no failure of its own. Returns its counters. */
async function expectUnharmed(engine: EngineProcess): Promise<Record<string, number>> {
  await using caller = await RawWorker.connect(engine.url);
  const { result } = await caller.call('engine::health::check');
  const health = result as {
    status: string;
    components: { router: { details: { counters: Record<string, number> } } };
  };
  expect(health.status).toBe('healthy');
  const suspicious = /unhandled|uncaught| ERROR |^\s+at .+:\d+:\d+/i;
  expect(engine.stderr.split('\n').filter((line) => suspicious.test(line))).toEqual([]);
  return health.components.router.details.counters;
}
