// The SDK and the engine on every supported version of Node. `npm ci --prefix test/nodes` installs the versions besides
// that of the tests.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EngineProcess } from '../../support/engine/engine-process.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CHECKS = join(ROOT, 'test/support/load/sdk-checks.js');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
/** The binary for Node 24 and 26 needs a newer glibc than that of Debian 12. */
const TRANSPORT = /uWebSockets\.js|its binary for Node \d\d needs glibc/;
const LONG_MS = 300_000;
const MAJORS = [20, 22, 24, 26];
const YAML = `drain_timeout_ms: 1000
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
  - name: svc-queue
`;
const EXPECTED = [
  'values survive a call',
  'an error keeps its code, message and stack',
  'a call without a function names it',
  'ten thousand calls at once are answered',
  'Void and Enqueue run',
  'state is stored',
  'a channel carries chunks',
];

/** The program of that version; undefined if it is not installed. In CI it has to be. */
function findNode(major: number): string | undefined {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const path = join(ROOT, `test/nodes/node_modules/node-${major}/bin/node`);
  if (existsSync(path)) return path;
  if (process.env.CI !== undefined) throw new Error(`${path} is missing: npm ci --prefix test/nodes`);
  return undefined;
}

const nodes = MAJORS.flatMap((major) => {
  const node = findNode(major);
  return node === undefined ? [] : [{ major, node }];
});

async function checkSdk(node: string, url: string, wire: string): Promise<string[]> {
  const { stdout } = await run(node, [CHECKS, url, wire], { cwd: ROOT });
  return stdout.trimEnd().split('\n');
}

describe.each(nodes)('on Node $major', ({ major, node }) => {
  test.each(['binary', 'json'])('[PD-61] svc-sdk works over the %s form', { timeout: LONG_MS }, async (wire) => {
    await using engine = await EngineProcess.start(YAML);
    expect(await checkSdk(node, engine.url, wire)).toEqual(EXPECTED);
  });

  if (major === 20) return;

  test('[PD-61] [PD-20] the engine works, says which library carries its connections, and stops cleanly', {
    timeout: LONG_MS,
  }, async () => {
    await using engine = await EngineProcess.start(YAML, { node });
    expect(await checkSdk(node, engine.url, 'binary')).toEqual(EXPECTED);
    expect(engine.stderr).toMatch(TRANSPORT);
    engine.kill('SIGTERM');
    expect(await engine.end(LONG_MS)).toEqual({ code: 0, signal: null });
  });

  // The run of this test covers Node 22.
  if (major === 22) return;

  test("[PD-61] the SDK's own tests pass", { timeout: LONG_MS }, async () => {
    const files = ['test/unit/sdk', ...(major === MAJORS.at(-1) ? ['test/e2e/sdk/sdk-wires.test.ts'] : [])];
    const { stdout } = await run(node, [VITEST, 'run', '--pool', 'threads', ...files], { cwd: ROOT });
    expect(stdout).toMatch(/[1-9]\d\d passed, 0 failed/);
  });
});

if (nodes.length < MAJORS.length) test.skip('[PD-61] other versions of Node: npm ci --prefix test/nodes');
