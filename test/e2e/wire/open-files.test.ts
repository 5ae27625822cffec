// An engine with a low limit of open files, and more connections than files (fault test 52), on both transports.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { waitFor } from '../../support/wait-for.ts';

const FILES = 256;
const LIMITS = 'limits: {trusted: {connections_per_second: 100000}}\n';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(['uws', 'ws'])('on %s', (transport) => {
  test('[fault 52] new connections are refused at 90 % of the files, health is degraded, and both recover', async () => {
    const line = faultLine('52', `descriptors exhausted on ${transport}`, 'refused=503,recovered=yes');
    vi.stubEnv('SVC_TRANSPORT', transport);
    await using engine = await EngineProcess.start(LIMITS + ONE_PORT, { openFilesMax: FILES });
    await using caller = await RawWorker.connect(engine.url);
    const workers: RawWorker[] = [];
    const connectOne = async (): Promise<unknown> => {
      try {
        workers.push(await RawWorker.connect(engine.url));
        return undefined;
      } catch (error) {
        return error;
      }
    };
    const refused = await waitFor('a connection is refused', connectOne);
    expect(String(refused)).toContain('503');
    line.figure = 'refused=503,recovered=no';
    expect(workers.length).toBeGreaterThan(FILES / 2);
    const reason = await waitFor('health is degraded', async () => {
      const { status, details } = await filesOf(caller);
      if (status === 'degraded') return details.reason;
      await connectOne();
      return undefined;
    });
    expect(reason).toMatch(/^2\d\d of 256 files are open, so new connections are refused: raise ulimit -n$/);
    // The engine counts again every two seconds: a file that was open only for a moment admits one more then.
    const isLogged = async (): Promise<boolean> => {
      await connectOne();
      return engine.stderr.includes('90 % of all files are open');
    };
    await waitFor('the log reports it', isLogged, 15_000);
    for (const worker of workers) await worker[Symbol.asyncDispose]();
    await waitFor('health is well again', async () => (await filesOf(caller)).status === 'healthy');
    await using again = await RawWorker.connect(engine.url);
    await again.settled();
    line.figure = 'refused=503,recovered=yes';
  });
});

interface FilesHealth {
  readonly status: string;
  readonly details: { readonly reason?: string };
}

async function filesOf(caller: RawWorker): Promise<FilesHealth> {
  const { result } = await caller.call('engine::health::check');
  return (result as { components: { open_files: FilesHealth } }).components.open_files;
}
