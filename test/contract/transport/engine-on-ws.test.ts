// The engine on `ws`, in every test run and on every machine. The full form is `SVC_TRANSPORT=ws npx vitest run
// test/e2e`.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BareSocket } from '../../support/clients/bare-socket.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { brokenRequest, protocolAttack } from '../../support/clients/protocol-attacks.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { getPage, tryUpgrade } from '../../support/clients/upgrade.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { mutatedFrame } from '../../support/random/frame-mutations.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';

const MIB = 1024 * 1024;
const FRAME_BYTES_MAX = 65_536;
const FRAMES = 300;

beforeEach(() => {
  vi.stubEnv('SVC_TRANSPORT', 'ws');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('an engine process on ws', () => {
  test('[PD-20] says so when it starts, and carries calls between every kind of client', async () => {
    vi.spyOn(console, 'debug').mockReturnValue(undefined);
    await using engine = await EngineProcess.start(ONE_PORT);
    expect(engine.stderr).toMatch(/^ *transport +ws$/m);
    expect(engine.stderr).not.toContain('uWebSockets.js');
    await using raw = await RawWorker.connect(engine.url);
    await using client = new IiiClient(engine.url);
    client.sdk.registerFunction('client::echo', async (data: unknown) => data);
    await raw.serve('raw::echo', (data) => data);
    await client.ready();
    const payloads = [null, { text: 'é€😀' }, 'x'.repeat(300_000), 'y'.repeat(8 * MIB)];
    for (const payload of payloads) {
      expect(await client.call('raw::echo', payload)).toEqual(payload);
      expect(await raw.call('client::echo', payload)).toMatchObject({ result: payload });
    }
  });

  test('[G1] drains on SIGTERM: the running call ends, both connections close with 1001, the process ends with 0', async () => {
    await using engine = await EngineProcess.start(`drain_timeout_ms: 10000\n${ONE_PORT}`);
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const id = caller.startCall('slow::one');
    const call = await worker.next('invokefunction');
    engine.kill('SIGTERM');
    await Promise.all([worker.next('draining'), caller.next('draining')]);
    worker.answer(call, { result: 'done' });
    expect(await caller.answerTo(id)).toMatchObject({ result: 'done' });
    const goodbye = { code: 1001, reason: 'the engine is shutting down' };
    expect(await Promise.all([worker.closed, caller.closed])).toEqual([goodbye, goodbye]);
    expect(await engine.end(10_000)).toEqual({ code: 0, signal: null });
  });

  test('[fault 33] serves all other clients whatever one client sends, and stops cleanly after it', async () => {
    const limits = `limits: {trusted: {connections_per_second: 100000, frame_bytes: ${FRAME_BYTES_MAX}}}`;
    await forEachSeedInTurn(1, async (random) => {
      await using engine = await EngineProcess.start(`drain_timeout_ms: 100\n${limits}\n${ONE_PORT}`);
      const port = Number(new URL(engine.url).port);
      await using pair = await HealthyPair.start(engine.url);
      expect(await pair.callUntil(attack(engine.url, port, random))).toBeGreaterThan(10);
      expect(engine.stderr).not.toContain(' ERROR ');
      engine.kill('SIGTERM');
      expect(await engine.end(10_000)).toEqual({ code: 0, signal: null });
    });
  });
});

describe('SVC_TRANSPORT', () => {
  test('[K4] with an unknown word ends the process with code 78 and names the known ones', async () => {
    vi.stubEnv('SVC_TRANSPORT', 'tcp');
    await using engine = await EngineProcess.spawn(ONE_PORT);
    expect(await engine.end(15_000)).toEqual({ code: 78, signal: null });
    expect(engine.stderr).toContain("SVC_TRANSPORT is 'tcp': expected uws or ws");
  });
});

describe('an engine on ws', () => {
  test('[PD-20] that was asked for logs no warning about it', async () => {
    await using engine = await startTestEngine();
    expect(engine.transport).toBe('ws');
    expect(engine.warnings.join('\n')).not.toContain('uWebSockets.js');
  });

  test('[wire 1.2] answers requests without an upgrade like the other transport', async () => {
    await using engine = await startTestEngine({
      yaml: `drain_timeout_ms: 100\nlimits: {trusted: {connections: 1}}\n${ONE_PORT}`,
    });
    const upgrade = (headers: Record<string, string>) => tryUpgrade(engine.port, { headers });
    expect(await upgrade({ host: 'evil.example' })).toMatchObject({ status: 403 });
    expect(await upgrade({ origin: 'http://evil.example' })).toMatchObject({ status: 403 });
    expect(await getPage(engine.port)).toMatchObject({ status: 426, text: 'This port speaks WebSocket' });
    expect(await getPage(engine.port, { path: '/x' })).toMatchObject({ status: 404 });
    await using worker = await RawWorker.connect(engine.url);
    expect(await upgrade({})).toMatchObject({ status: 503, text: expect.stringContaining('OVERLOADED') });
    await worker.settled();
  });
});

/** Damaged frames, broken WebSocket and broken HTTP, in turn. */
async function attack(url: string, port: number, random: SeededRandom): Promise<void> {
  for (let round = 0; round < FRAMES / 10; round++) {
    await using worker = await RawWorker.connect(url);
    for (let sent = 0; sent < 10; sent++) worker.sendBinary(mutatedFrame(random));
    expect(await worker.call('engine::health::check')).toMatchObject({ result: { status: 'healthy' } });

    await using breaker = await BareSocket.upgrade(port, random.pick(['/', '/otel']));
    const { name, bytes, endsConnection } = protocolAttack(random, FRAME_BYTES_MAX);
    await breaker.writeAll(bytes);
    if (endsConnection) await breaker.thrownOut(name);

    await using client = await BareSocket.dial(port);
    await client.writeAll(brokenRequest(random));
    await worker.settled();
    expect(client.received).not.toContain(' 101 ');
  }
}
