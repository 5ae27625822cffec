// Answers of engine functions that clients of `iii` compare word by word, in drop-in mode only.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';

const MODES = [
  ['in drop-in mode', 'compat: iii\n'],
  ['otherwise', ''],
] as const;
const WORKERS = 'workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';

async function resultOf(worker: RawWorker, functionId: string, data: unknown = {}): Promise<Record<string, unknown>> {
  const { result } = await worker.call(functionId, data);
  return result as Record<string, unknown>;
}

test.each(MODES)('the modules of health have a status of their own, %s', async (_mode, top) => {
  await using engine = await startTestEngine({ yaml: top + WORKERS });
  await using worker = await RawWorker.connect(engine.url);
  const { components } = await resultOf(worker, 'engine::health::check');
  expect((components as { modules: object }).modules).toHaveProperty('svc-worker-manager.status', 'healthy');
  const { modules } = components as { modules: Record<string, unknown> };
  expect(modules.status).toBe(top === '' ? undefined : 'healthy');
});

test.each(MODES)('include_internal: false leaves out what is internal, %s', async (_mode, top) => {
  await using engine = await startTestEngine({ yaml: top + WORKERS });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('shop::on');
  const idsOf = async (asked: object): Promise<string[]> => {
    const { functions } = await resultOf(worker, 'engine::functions::list', asked);
    return (functions as { function_id: string }[]).map(({ function_id: id }) => id);
  };
  const isEngines = (id: string): boolean => id.startsWith('engine::');
  expect((await idsOf({ include_internal: true })).some(isEngines)).toBe(true);
  const shown = await idsOf({ include_internal: false });
  expect(shown).toContain('shop::on');
  if (top !== '') expect(shown.some(isEngines)).toBe(false);
});

test.each(MODES)('a connected worker has the status of the mode, %s', async (_mode, top) => {
  await using engine = await startTestEngine({ yaml: top + WORKERS });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('shop::on');
  const { workers } = await resultOf(worker, 'engine::workers::list', { worker_id: worker.workerId });
  expect(workers).toMatchObject([{ status: top === '' ? 'available' : 'connected' }]);
});
