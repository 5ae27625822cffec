// The engine of a benchmark, as `svc start` runs it, in the process of its part. Nothing is observed unless the
// benchmark measures that: otherwise the figures would not compare with those of contenders that observe nothing.

import { loadConfig } from '../../src/config/load.ts';
import { declareModules, type RunningEngine, startEngine } from '../../src/engine/engine.ts';

export const UNOBSERVED_CONFIG = '{enabled: false, metrics_enabled: false, logs_enabled: false}';
export const UNOBSERVED = `{name: svc-observability, config: ${UNOBSERVED_CONFIG}}`;

/** Set by `bench/load/tls.ts`: the `tls` of a port, as flow YAML after another setting. */
export const PORT_TLS = process.env.SVC_BENCH_TLS ?? '';

/** `text` is the configuration file. */
export async function startBenchEngine(text: string, threads = 1): Promise<RunningEngine> {
  const loaded = loadConfig({ text, file: 'bench.yaml', env: {}, ...declareModules() });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return await startEngine({ config: loaded.config, threads, logger: silent });
}
