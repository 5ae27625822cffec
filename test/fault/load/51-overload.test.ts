// Fault 51: three times as many requests as the engine can answer, and producers that enqueue as fast as they can. It
// continues to work, refuses with an error, and recovers soon after.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { OpenLoop } from '../../support/load/open-loop.ts';
import { JobLedger } from '../../support/stores/job-ledger.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Three in CI; `SVC_FAULT_ROUNDS=100` makes it ten minutes. */
const SECONDS = rounds(3) === 3 ? 3 : 6 * rounds(3);
/** More than any machine answers with all of these processes on it. */
const REQUESTS_PER_SECOND = 60_000;
const CONNECTIONS = 2_500;
const RECOVERY_MS_MAX = 10_000;

test('[L4] [Q1] fault 51: under three times the load it answers what it can, refuses the rest, loses no receipt', {
  timeout: 90_000 + SECONDS * 2_000,
}, async () => {
  const line = faultLine('51', '3x overload', 'lost=0 strange=0');
  using folder = new TemporaryFolder();
  await using engine = await EngineProcess.start(overloadYaml(folder.path));
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('page', () => ({ body: 'ok' }));
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'page', config: PAGE });
  await worker.settled();
  await using producer = await RawWorker.connect(engine.url);
  const ledger = new JobLedger();
  await ledger.serve(worker, 'job');
  const port = Number(new URL(/http:\/\/\S+:\d+/.exec(engine.stderr)?.[0] ?? '').port);
  {
    using load = new OpenLoop(port, '/page', CONNECTIONS);
    load.setRate(REQUESTS_PER_SECOND);
    ledger.produce(producer, 'job', 64, { goesOn: true });
    // However fast the machine is: a fixed number of answers, good and bad, each of which could break the engine.
    const isEnough = () => load.ok > SECONDS * 100 && load.answered > SECONDS * 3_000;
    await waitFor('enough requests are answered and refused', isEnough, 60_000 + SECONDS * 1_000);
    expect({ lost: load.lost, strange: load.strange }).toEqual({ lost: 0, strange: [] });
    line.figure = `answered=${load.ok} refused=${load.refused} receipts=${ledger.receipts.size}`;
  }
  producer.close();
  await waitFor(
    'the engine serves requests again',
    async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/page`);
      await answer.arrayBuffer();
      return answer.status === 200;
    },
    RECOVERY_MS_MAX,
  );
  expect(await ledger.lost(worker)).toEqual([]);
});

const PAGE = { api_path: '/page', http_method: 'GET' };

function overloadYaml(folder: string): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {file_path: ${folder}}}}}
`;
}
