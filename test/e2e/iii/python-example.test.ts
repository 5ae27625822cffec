// The worker in Python of docs/languages.md, with the published package of `iii`. It is left out where the package
// cannot be installed: it is not in the registries that every machine reaches.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startHttpEngine } from '../../support/clients/http-engine.ts';

const run = promisify(execFile);
const packages = mkdtempSync(join(tmpdir(), 'svc-python-'));

const missing = await run('python3', [
  ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '0', '--timeout', '5'],
  ...['--target', packages, 'iii-sdk==0.22.1'],
]).then(
  () => undefined,
  () => 'left out: iii-sdk 0.22.1 cannot be installed from PyPI',
);

test.skipIf(missing)(`the worker in Python of the documentation runs ${missing ?? ''}`, async () => {
  await using engine = await startHttpEngine('', { top: 'compat: iii' });
  const page = readFileSync(new URL('../../../docs/languages.md', import.meta.url), 'utf8');
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
  const env = { ...process.env, PYTHONPATH: packages, III_URL: engine.url };
  const { stdout } = await run('python3', ['-c', program], { env, timeout: 60_000 });
  expect(stdout).toContain("{'total': 10}");
});
