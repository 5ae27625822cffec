// Fault 3: the disk is slow. Nothing is acknowledged before it is durable, and nothing else waits for it.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { isSkipped, stateYaml, Tracer, tracingRefusal } from '../../support/load/fault-tools.ts';
import { waitFor } from '../../support/wait-for.ts';

const FROZEN_MS = process.env.SVC_FAULT_ROUNDS === undefined ? 1_500 : 5_000;

test.skipIf(isSkipped('fault 3', tracingRefusal()))(
  '[D1] [T1] [fault 3] While a sync is frozen no write is answered, and everything else is',
  { timeout: 60_000 },
  async () => {
    const line = faultLine('3', 'sync frozen', 'answers while frozen=0');
    using folder = new TemporaryFolder();
    await using engine = await EngineProcess.start(stateYaml(folder.path));
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('echo', (data) => data);
    await worker.call('state::set', { scope: 's', key: 'before', value: 1 });
    await using _frozen = await Tracer.attach(engine.pid, `fdatasync:delay_enter=${FROZEN_MS * 1_000}`);
    const id = worker.startCall('state::set', { scope: 's', key: 'k', value: 2 });
    const isAnswered = () => worker.frames.some(({ invocation_id }) => invocation_id === id);
    for (let call = 0; call < 20; call++) {
      expect((await worker.call('echo', call)).result).toBe(call);
      expect((await worker.call('engine::health::check')).error).toBeUndefined();
    }
    line.figure = `answers while frozen=${Number(isAnswered())}`;
    expect(isAnswered()).toBe(false);
    await waitFor('the write is answered', isAnswered, 4 * FROZEN_MS);
    expect((await worker.answerTo(id)).result).toEqual({ old_value: null, new_value: 2 });
  },
);
