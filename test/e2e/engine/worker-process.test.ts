// A process that the engine starts for a worker: its end is reported once, whatever happens around it.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startProcess } from '../../../src/effects/worker-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';

const SOURCE = new URL('../../../src/effects/worker-process.ts', import.meta.url).href;

test('[fault 52] A worker that cannot be started without file descriptors ends with the reason', async () => {
  const script = `
import { openSync, closeSync } from 'node:fs';
import { startProcess } from ${JSON.stringify(SOURCE)};
const open = [];
try { for (;;) open.push(openSync('/dev/null', 'r')); } catch {}
startProcess({ command: 'true', cwd: '/', env: {} }, {
  line() {},
  ended({ cause }) {
    for (const file of open) closeSync(file);
    console.log('ended: ' + cause);
  },
});`;
  const { stdout } = await promisify(execFile)(
    '/bin/sh',
    ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { cwd: fileURLToPath(new URL('.', import.meta.url)) },
  );
  expect(stdout).toBe('ended: spawn /bin/sh EMFILE\n');
});

test('[R6] The end of a worker is reported although a process that left its group holds its output open', async () => {
  using folder = new TemporaryFolder();
  let stray = 0;
  const cause = await new Promise<string>((resolve) => {
    startProcess(
      // The worker ends after the other process has its own session and has printed its id.
      {
        command: `mkfifo up; setsid sh -c 'echo $$; : >up; exec sleep 60' & : <up; exit 3`,
        cwd: folder.path,
        env: { PATH: process.env.PATH },
      },
      {
        line: (_, text) => {
          stray = Number(text);
        },
        ended: (end) => resolve(end.cause),
      },
    );
  });
  process.kill(stray);
  expect(cause).toBe('exit code 3');
});
