// A test engine with the stream server. Its items are in memory by default.

import type { Clock } from '../../../src/effects/clock.ts';
import type { RawWorker } from '../clients/raw-worker.ts';
import { ONE_PORT, startTestEngine, type TestEngine } from '../engine/test-engine.ts';

export interface StreamEngine extends TestEngine {
  /** Address of the stream server. */
  readonly streams: string;
}

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

/** `config`: more lines of the module; `top`: more lines of the file; `store`: where items are kept. */
export function streamYaml(config = '', top = '', store = IN_MEMORY): string {
  const lines = ['port: 0', 'host: 127.0.0.1', store, config].filter((line) => line !== '');
  const module = `  - name: svc-stream\n    config:\n${lines.map((line) => `      ${line}\n`).join('')}`;
  return `drain_timeout_ms: 500\n${top}\n${ONE_PORT}${module}`;
}

export async function startStreamEngine(config = '', top = '', clock?: Clock, threads?: number): Promise<StreamEngine> {
  const parts = { ...(clock && { clock }), ...(threads !== undefined && { threads }) };
  const engine = await startTestEngine({ yaml: streamYaml(config, top), ...parts });
  const [, streams] = engine.urls;
  if (streams === undefined) throw new Error('The engine has no stream server');
  return { ...engine, streams };
}

/** How many clients the stream server has, as its health says. */
export async function streamClientsOf(worker: RawWorker): Promise<number> {
  const { result } = await worker.call('engine::health::check', {});
  type Health = { components: { modules: Record<string, { details?: { connections?: number } }> } };
  return (result as Health).components.modules['svc-stream']?.details?.connections ?? 0;
}
