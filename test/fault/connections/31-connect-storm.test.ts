// Fault 31: thousands of connections come from many addresses, at every port that takes WebSockets. Most are refused
// with a status; existing ones work on.

import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Latencies } from '../../../src/cli/commands/bench/load.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS } from '../../support/load/fault-tools.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { streamYaml } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const STORM = fileURLToPath(new URL('../../support/load/connect-storm-main.ts', import.meta.url));
const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
/** The long form: 20 000 a second for a minute, or what this machine can open, at 100 rounds. */
const CONNECTS = IS_LONG ? FAULT_ROUNDS * 12_000 : 6_000;
const MIB = 1024 * 1024;
const GROWTH_BYTES_MAX = 96 * MIB;
const CALM_MS_MAX = 60_000;
/** Long enough for a 99th percentile where it is reported. */
const CALM_MS = IS_LONG ? 5_000 : 500;

test('[fault 31] A storm of connections is answered by the limits, and existing traffic and memory are unaffected', {
  timeout: 120_000 + CONNECTS * 5,
}, async () => {
  const line = faultLine(
    '31',
    'connect storm',
    `other answers=0,growth MiB<${GROWTH_BYTES_MAX / MIB},p99 2 times (reported)`,
  );
  await using engine = await EngineProcess.start(streamYaml());
  await using pair = await HealthyPair.start(engine.url);
  const ports = engine.urls.map((url) => Number(new URL(url).port));
  const before = new Latencies();
  const meanwhile = new Latencies();
  const calm = await pair.callUntil(wait(CALM_MS), (ms) => before.record(ms));
  const restBytes = engine.rssBytes;
  const startMs = performance.now();
  const storm = rage(ports);
  const callsMeanwhile = await pair.callUntil(storm, (ms) => meanwhile.record(ms));
  const statuses = await storm;
  const seconds = (performance.now() - startMs) / 1_000;
  const growthBytes = engine.rssBytes - restBytes;
  const strange = [...statuses].filter(([status]) => !['101', '429', '503'].includes(status));
  line.figure = `other answers=${strange.length},growth MiB=${Math.round(growthBytes / MIB)}`;
  // The storm's own process takes one of two cores: the reader of the line judges the limit of 2 times.
  const [calmMs, stormMs] = [before.summary().p99_ms, meanwhile.summary().p99_ms];
  line.figure += `,p99 ms=${stormMs} after ${calmMs} (${(stormMs / calmMs).toFixed(1)} times)`;
  process.stdout.write(
    `31 ${CONNECTS} connects at ${Math.round(CONNECTS / seconds)}/s: ${JSON.stringify([...statuses])}; ` +
      `${Math.round(callsMeanwhile / seconds)} calls a second meanwhile, ${Math.round(calm / (CALM_MS / 1_000))} before\n`,
  );
  expect(strange).toEqual([]);
  expect((statuses.get('429') ?? 0) + (statuses.get('503') ?? 0)).toBeGreaterThan(0);
  expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
  expect(engine.stderr).not.toMatch(/ ERROR /);
  const late = await waitFor(
    'the engine accepts connections again',
    () => RawWorker.connect(engine.url).catch(() => undefined),
    CALM_MS_MAX,
  );
  await late[Symbol.asyncDispose]();
});

/** In a process of its own, so that only the engine slows the pair's calls; returns how often each answer came. */
async function rage(ports: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const args = [STORM, String(CONNECTS), ...ports.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return new Map(JSON.parse(stdout));
}
