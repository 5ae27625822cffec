// Damaged frames, messages and requests on the ports that strangers reach: the one for browsers, the stream server and
// HTTP (fault test 33: "on every port"). The bridge has `fuzz.test.ts` and `fuzz-binary.test.ts`. Two workers call each
// other over the bridge throughout and must not be affected. A failure names its seed; `SVC_TEST_SEED=<seed>` repeats
// that run.

import { isUtf8 } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FRAME_MESSAGES_MAX } from '../../../src/protocol/binary/binary-messages.ts';
import { SUBPROTOCOL_COMPACT, SUBPROTOCOL_MSGPACK } from '../../../src/protocol/frames/subprotocols.ts';
import { BareSocket } from '../../support/clients/bare-socket.ts';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { askJson } from '../../support/clients/http-engine.ts';
import { brokenRequest, protocolAttack } from '../../support/clients/protocol-attacks.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { mutatedBatch } from '../../support/random/binary-mutations.ts';
import { mutated, mutatedFrame } from '../../support/random/frame-mutations.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';

const FRAMES = Number(process.env.SVC_FUZZ_FRAMES ?? 800);
/** Percentage of frames that go to WebSocket itself, on connections of their own. */
const PROTOCOL_SHARE = 0.1;
/** A request takes a connection of its own. */
const HTTP_SHARE = 0.2;
/** Below the number of subscriptions and registrations that one connection may have. */
const FRAMES_PER_CONNECTION = 50;
/** So that a frame with too many messages is refused for their number. */
const FRAME_BYTES_MAX = 20 * FRAME_MESSAGES_MAX;
const TIMEOUT_MS = 40_000 + FRAMES * 5;
/** Allows for garbage that is not collected yet; memory kept for each frame would exceed it in the long form. */
const GROWTH_BYTES_MAX = 128 * 1024 * 1024;

const OPEN_DOORS = 'connections_per_second: 100000, connections_per_second_per_address: 100000';
const STRANGERS = `frame_bytes: ${FRAME_BYTES_MAX}, messages_per_second: 1000000, messages_burst: 1000000, ${OPEN_DOORS}`;
const YAML = `drain_timeout_ms: 100
limits:
  browser: {${STRANGERS}, in_flight_per_caller: 100000}
  stream: {${STRANGERS}}
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-worker-manager
    config: {port: 0, rbac: {expose_functions: ['match("fuzz::*")', 'match("healthy::*")']}}
  - name: svc-stream
    config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {store_method: in_memory}}}
  - name: svc-http
    config: {port: 0}
`;

/** Messages of stream clients, and variants with the optional parts. */
const STREAM_CORPUS: readonly string[] = [
  { type: 'join', data: { subscriptionId: 'one', streamName: 'chat', groupId: 'room' } },
  { type: 'join', data: { subscriptionId: 'two', streamName: 'chat', groupId: 'room', id: 'item' } },
  { type: 'join', data: { subscriptionId: 'three', streamName: 'chat', groupId: 'room', epoch: 'e', seq: 7 } },
  { type: 'leave', data: { subscriptionId: 'one', streamName: 'chat', groupId: 'room' } },
].map((message) => JSON.stringify(message));

const BODY = JSON.stringify({ value: 1, text: 'x', list: [1, { deep: 'é' }] });
const HTTP_CORPUS: readonly string[] = [
  ['POST /echo/a?x=1&y=%C3%A9', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(BODY)}`],
  ['POST /echo/a', 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
  ['PUT /echo/%2e%2e/a', 'Content-Length: 99999999999', 'Expect: 100-continue'],
  ['GET /nowhere', 'Cookie: a=b; c', 'Range: bytes=0-'],
  ['OPTIONS /echo/a', 'Origin: http://evil.example', 'Access-Control-Request-Method: POST'],
].map(([line, ...headers]) => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('\r\n')}\r\n\r\n${BODY}`);

interface Ports {
  readonly bridge: string;
  readonly browsers: string;
  readonly streams: string;
  readonly httpPort: number;
}

type Fuzz = (ports: Ports, random: SeededRandom, count: number) => Promise<void>;

describe.each(['uws', 'ws'])('an engine with every port, on %s', (transport) => {
  beforeEach(() => void vi.stubEnv('SVC_TRANSPORT', transport));

  afterEach(() => void vi.unstubAllEnvs());

  test.each<[string, Fuzz, number]>([
    ['damaged frames on the port for browsers', sendToBrowsersPort, 1 - PROTOCOL_SHARE],
    ['damaged messages on the stream server', sendToStreams, 1 - PROTOCOL_SHARE],
    ['damaged requests on the HTTP port', sendToHttp, HTTP_SHARE],
    ['broken WebSocket on the ports of strangers', sendAttacks, PROTOCOL_SHARE],
  ])('[fault 33] %s affect no other connection', { timeout: TIMEOUT_MS }, async (what, fuzz, share) => {
    const line = faultLine('33', `${what}, on ${transport}`, 'crashes=0');
    const half = Math.ceil((FRAMES * share) / 2);
    await forEachSeedInTurn(1, (random) => underFuzz(fuzz, random, half));
    line.figure = `crashes=0,frames=${2 * half}`;
  });
});

/** Runs it in two halves; after the second the engine must be as healthy as after the first. */
async function underFuzz(fuzz: Fuzz, random: SeededRandom, half: number): Promise<void> {
  await using engine = await EngineProcess.start(YAML);
  const ports = portsOf(engine);
  await using pair = await HealthyPair.start(ports.bridge);
  let restBytes = 0;
  const both = async (): Promise<void> => {
    await fuzz(ports, random, half);
    restBytes = engine.rssBytes;
    await fuzz(ports, random, half);
  };
  expect(await pair.callUntil(both())).toBeGreaterThan(3);
  expect(engine.rssBytes - restBytes).toBeLessThan(GROWTH_BYTES_MAX);
  const suspicious = /unhandled|uncaught| ERROR |^\s+at .+:\d+:\d+/i;
  expect(engine.stderr.split('\n').filter((line) => suspicious.test(line))).toEqual([]);
}

async function sendToBrowsersPort({ browsers }: Ports, random: SeededRandom, count: number): Promise<void> {
  for (let sent = 0; sent < count; ) {
    const form = random.pick([SUBPROTOCOL_MSGPACK, SUBPROTOCOL_COMPACT, 'json', 'json']);
    await using client =
      form === 'json' ? await RawWorker.connect(browsers) : await BinaryClient.connect(browsers, form);
    for (const end = sent + FRAMES_PER_CONNECTION; sent < end; sent++) {
      const isJson = form === 'json' || random.chance(10);
      const frame = isJson ? mutatedFrame(random) : mutatedBatch(random, 'fromWorker');
      // Text that is not UTF-8 violates WebSocket and belongs to another test.
      client.socket.send(frame, { binary: !isUtf8(frame) || !isJson });
    }
    const answer = await client.call('healthy::double', 21);
    expect('value' in answer ? answer.value : answer.result).toBe(42);
  }
}

async function sendToStreams({ streams }: Ports, random: SeededRandom, count: number): Promise<void> {
  for (let sent = 0; sent < count; ) {
    await using client = await StreamClient.connect(streams);
    for (const end = sent + FRAMES_PER_CONNECTION; sent < end; sent++) {
      const message = random.chance(90) ? mutated(random, STREAM_CORPUS) : mutatedFrame(random);
      client.socket.send(message, { binary: !isUtf8(message) || random.chance(30) });
    }
    client.join({ subscriptionId: 'whole', streamName: 'chat', groupId: 'whole' });
    // A damaged message may be a ping, whose answer has neither group nor event.
    await client.until(({ event, groupId }) => groupId === 'whole' && event.type === 'sync');
  }
}

async function sendToHttp({ bridge, httpPort }: Ports, random: SeededRandom, count: number): Promise<void> {
  await using worker = await RawWorker.connect(bridge);
  await worker.serve('fuzz::echo', (request) => ({ body: bodyOf(request) }));
  const config = { api_path: '/echo/:name', http_method: 'POST' };
  worker.send({ type: 'registertrigger', id: 'echo', trigger_type: 'http', function_id: 'fuzz::echo', config });
  await worker.settled();
  for (let sent = 0; sent < count; ) {
    for (const end = sent + FRAMES_PER_CONNECTION; sent < end; sent++) {
      await using socket = await BareSocket.dial(httpPort);
      await socket.writeAll(random.chance(85) ? mutated(random, HTTP_CORPUS) : brokenRequest(random));
    }
    const whole = { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY };
    expect(await askJson({ httpPort }, '/echo/a', whole)).toEqual({ status: 200, body: JSON.parse(BODY) });
  }
  worker.send({ type: 'unregistertrigger', id: 'echo' });
  await worker.settled();
}

async function sendAttacks({ browsers, streams }: Ports, random: SeededRandom, count: number): Promise<void> {
  const [browsersPort, streamsPort] = [browsers, streams].map((url) => Number(new URL(url).port));
  for (let sent = 0; sent < count; sent++) {
    const [port, path] = random.pick([
      [browsersPort, '/'],
      [streamsPort, '/'],
      [streamsPort, '/stream/chat/room/'],
    ] as const);
    await using socket = await BareSocket.upgrade(Number(port), path);
    const attack = protocolAttack(random, FRAME_BYTES_MAX);
    await socket.writeAll(attack.bytes);
    if (attack.endsConnection) await socket.thrownOut(attack.name);
  }
}

function portsOf(engine: EngineProcess): Ports {
  const [bridge, browsers, streams] = engine.urls;
  const http = /http:\/\/\S+:(\d+)/.exec(engine.stderr)?.[1];
  if (!bridge || !browsers || !streams || !http) throw new Error(`The engine has not every port:\n${engine.stderr}`);
  return { bridge, browsers, streams, httpPort: Number(http) };
}

function bodyOf(request: unknown): unknown {
  return typeof request === 'object' && request !== null && 'body' in request ? request.body : undefined;
}
