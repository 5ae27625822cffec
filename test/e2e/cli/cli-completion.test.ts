// `svc completion …`, and the candidates that its scripts receive.

import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, type EngineProcess, runSvc, SVC, startEngineProcess } from './cli-process.ts';

const WITH_STATE = `${ANY_PORT}  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
`;

/** A busy test machine answers slower than a shell would accept. */
const PATIENT = { SVC_COMPLETION_MS: '5000' };

let engine: EngineProcess;
let worker: SvcWorker;
const folder = new TemporaryFolder();

beforeAll(async () => {
  engine = await startEngineProcess(WITH_STATE);
  worker = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 0 });
  worker.registerFunction('orders::create', () => null);
  worker.registerFunction('orders::cancel', () => null);
  await worker.ready();
  await worker.state.set('baskets', 'b-1', 1);
});

afterAll(async () => {
  await worker?.shutdown();
  await engine?.stop();
  folder[Symbol.dispose]();
});

async function completed(...words: string[]): Promise<string[]> {
  const env = { SVC_URL: engine.url, TMPDIR: folder.path, XDG_CONFIG_HOME: folder.path, ...PATIENT };
  const { stdout, code } = await runSvc(['__complete', '--', ...words], { env });
  expect(code).toBe(0);
  return stdout.split('\n').filter(Boolean);
}

describe('[CLI-10] completion', () => {
  test('offers commands, then the next words of the commands', async () => {
    expect(await completed('fun')).toEqual(['function']);
    expect(await completed('function', '')).toEqual(['info', 'list']);
    expect(await completed('functions', '')).toEqual(['info', 'list']);
  });

  test('offers each word of a command with three words', async () => {
    expect(await completed('queue', 'dl')).toEqual(['dlq']);
    expect(await completed('queue', 'dlq', '')).toEqual(['discard', 'list', 'purge', 'redrive', 'show']);
    expect(await completed('queue', 'dlq', 'list', '--gro')).toEqual(['--group-by']);
  });

  test('offers the choices of an operand, and the output formats of the command', async () => {
    expect(await completed('bench', 'state-')).toEqual(['state-get', 'state-set', 'state-update']);
    expect(await completed('completion', '')).toEqual(['bash', 'fish', 'powershell', 'zsh']);
    expect(await completed('state', 'get', '-o', '')).toEqual(['json', 'jsonl']);
  });

  test('offers flags, and the choices of a flag', async () => {
    expect(await completed('functions', 'list', '--ou')).toEqual(['--output']);
    expect(await completed('functions', 'list', '-o', 'j')).toEqual(['json', 'jsonl']);
  });

  test('offers functions, scopes and keys of the running engine', async () => {
    expect(await completed('trigger', 'orders::c')).toEqual(['orders::cancel', 'orders::create']);
    expect(await completed('state', 'get', 'b')).toEqual(['baskets']);
    expect(await completed('state', 'get', 'baskets', '')).toEqual(['b-1']);
  });

  test('offers triggers and traces by their ids', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    await using raw = await RawWorker.connect(engine.url);
    const trigger = { id: 'on-change', trigger_type: 'state', function_id: 'orders::create', config: {} };
    raw.send({ type: 'registertrigger', ...trigger });
    await raw.settled();
    await raw.call('orders::create', {}, { traceparent });
    expect(await completed('triggers', 'fire', 'on')).toEqual(['on-change']);
    await waitFor('the trace is listed', async () => {
      const { result } = await raw.call('engine::traces::list', { trace_id: trace });
      return (result as { spans: readonly unknown[] }).spans.length > 0;
    });
    expect(await completed('trace', 'show', '')).toEqual(expect.arrayContaining(['last', trace]));
  });

  test('prints nothing without an engine', async () => {
    const env = { SVC_URL: 'ws://127.0.0.1:9', TMPDIR: folder.path };
    expect(await runSvc(['__complete', '--', 'trigger', 'x'], { env })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('works in bash as pasted, also after the colons of an id and for svc typed with its path', async () => {
    const script = join(folder.path, 'try.sh');
    await writeFile(
      script,
      `svc() { "${process.execPath}" "${SVC}" "$@"; }
source <(svc completion bash)
COMP_LINE="svc trigger orders::cr" COMP_POINT=22
_svc
echo "\${COMPREPLY[@]}"
unset -f svc
COMP_LINE="./svc trigger orders::cr" COMP_POINT=24
_svc
echo "\${COMPREPLY[@]}"
`,
    );
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      SVC_URL: engine.url,
      TMPDIR: folder.path,
      ...PATIENT,
    };
    await writeFile(join(folder.path, 'svc'), `#!/bin/sh\nexec "${process.execPath}" "${SVC}" "$@"\n`, { mode: 0o755 });
    const { stdout, stderr } = spawnSync('bash', [script], { cwd: folder.path, env, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'create\ncreate\n', stderr: '' });
  });

  test.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
    const { stdout, code } = await runSvc(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('__complete');
  });
});
