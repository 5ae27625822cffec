// `svc state …` as processes against a real engine.

import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import {
  ANY_PORT,
  type EngineProcess,
  finished,
  makeFolder,
  runSvc,
  spawnSvc,
  startEngineProcess,
  waitForText,
} from './cli-process.ts';

const WITH_STATE = `${ANY_PORT}  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
`;

let engine: EngineProcess;
let worker: SvcWorker;

beforeAll(async () => {
  engine = await startEngineProcess(WITH_STATE);
  worker = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 0 });
  await worker.ready();
});

afterAll(async () => {
  await worker?.shutdown();
  await engine?.stop();
});

beforeEach(async () => {
  for await (const scope of worker.state.scopes()) {
    for await (const { key } of worker.state.list(scope)) await worker.state.delete(scope, key);
  }
});

function svc(...args: string[]) {
  return runSvc(['state', ...args], { env: { SVC_URL: engine.url } });
}

describe('svc state get', () => {
  test('[CLI-1] prints the value as JSON and nothing else', async () => {
    await worker.state.set('users', 'ann', { name: 'Ann', tags: ['a'] });
    expect(await svc('get', 'users', 'ann')).toEqual({
      code: 0,
      signal: null,
      stdout: '{"name":"Ann","tags":["a"]}\n',
      stderr: '',
    });
  });

  test('[CLI-20] a number that loses digits is quoted in a warning, and an export with it ends with exit code 1', async () => {
    // Written with a raw frame: the command line refuses such numbers.
    await using other = await RawWorker.connect(engine.url);
    other.sendText(
      '{"type":"invokefunction","invocation_id":"5e6a3a37-3c2c-4b8e-9c55-0a4a4f6d1c11","function_id":"state::set",' +
        '"data":{"scope":"users","key":"ann","value":{"id":12345678901234567890}}}',
    );
    await other.next('invocationresult');
    const warning =
      'warning: The answer holds the number 12345678901234567890, which is printed as 12345678901234567000: this ' +
      'program cannot keep its digits.\n';
    expect(await svc('get', 'users', 'ann')).toEqual({
      code: 0,
      signal: null,
      stdout: '{"id":12345678901234567000}\n',
      stderr: warning,
    });
    expect(await svc('export')).toMatchObject({ code: 1, stderr: `${warning}1 entries\n` });
  });

  test('[CLI-4] distinguishes a stored null from a missing key', async () => {
    await worker.state.set('users', 'ann', null);
    await worker.state.set('users', 'annabel', 1);
    expect(await svc('get', 'users', 'ann')).toMatchObject({ code: 0, stdout: 'null\n' });
    expect(await svc('get', 'users', 'anna')).toMatchObject({ code: 3, stdout: '' });
  });

  test('[CLI-8] suggests a similar key or scope', async () => {
    await worker.state.set('users', 'ann', 1);
    expect((await svc('get', 'users', 'amn')).stderr).toContain("no key 'amn' in the scope 'users'");
    expect((await svc('get', 'users', 'amn')).stderr).toContain('Did you mean: ann?');
    expect((await svc('get', 'user', 'ann')).stderr).toContain('Did you mean: users?');
  });

  test('[CLI-1] --path and --raw print a value inside the entry', async () => {
    await worker.state.set('users', 'ann', { home: [{ city: 'Köln' }] });
    expect(await svc('get', 'users', 'ann', '--path', 'home.0.city', '--raw')).toMatchObject({ stdout: 'Köln\n' });
    expect(await svc('get', 'users', 'ann', '--path', 'home.0')).toMatchObject({ stdout: '{"city":"Köln"}\n' });
    expect(await svc('get', 'users', 'ann', '--path', 'home.toString')).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('svc state set', () => {
  test('[CLI-1] writes the value and prints nothing', async () => {
    expect(await svc('set', 'users', 'ann', '{"n":1}')).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    expect(await worker.state.get('users', 'ann')).toEqual({ n: 1 });
  });

  test('[CLI-20] reads the value from a file, from stdin, and as plain text', async () => {
    const folder = await makeFolder({ 'value.json': '{"from":"file"}' });
    const options = { env: { SVC_URL: engine.url }, cwd: folder.path };
    await runSvc(['state', 'set', 's', 'file', '@value.json'], options);
    await runSvc(['state', 'set', 's', 'stdin', '-'], { ...options, input: '[1]' });
    await runSvc(['state', 'set', 's', 'text', '--text', '-'], { ...options, input: '[1' });
    await folder.remove();
    const values = await Promise.all(['file', 'stdin', 'text'].map((key) => worker.state.get('s', key)));
    expect(values).toEqual([{ from: 'file' }, [1], '[1']);
  });

  test('[CLI-4] a value that is not JSON is a usage error with a hint', async () => {
    const done = await svc('set', 's', 'k', 'hello');
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain('is not valid JSON');
    expect(done.stderr).toContain('--text');
  });

  test('[CLI-1] --show prints the difference', async () => {
    await worker.state.set('s', 'k', { a: 1, b: 2 });
    const done = await svc('set', 's', 'k', '{"a":1,"b":3}', '--show');
    expect(done.stdout).toBe('  {\n    "a": 1,\n-   "b": 2\n+   "b": 3\n  }\n');
    const first = await svc('set', 's', 'new', '5', '--json');
    expect(JSON.parse(first.stdout)).toEqual({ old_value: null, new_value: 5 });
  });
});

describe('svc state set and delete with a condition', () => {
  test('[CLI-4] --if-absent writes only a new entry; an existing entry stays, and the exit code is 7', async () => {
    expect(await svc('set', 'locks', 'import', '"me"', '--if-absent')).toMatchObject({ code: 0, stdout: '' });
    const late = await svc('set', 'locks', 'import', '"you"', '--if-absent', '--json');
    expect(late).toMatchObject({ code: 7, stdout: '' });
    expect(JSON.parse(late.stderr)).toMatchObject({ error: { code: 'CONFLICT', function_id: 'state::set' } });
    expect(await worker.state.get('locks', 'import')).toBe('me');
  });

  test('[CLI-4] --if-version writes and deletes only the version that was read', async () => {
    await worker.state.set('s', 'k', { n: 1 });
    const read = JSON.parse((await svc('get', 's', 'k', '--with-version')).stdout);
    expect(read).toEqual({ value: { n: 1 }, version: expect.any(String) });
    expect(await svc('set', 's', 'k', '{"n":2}', '--if-version', read.version)).toMatchObject({ code: 0 });
    const late = await svc('set', 's', 'k', '{"n":3}', '--if-version', read.version);
    expect(late).toMatchObject({ code: 7, stdout: '' });
    expect(late.stderr).toContain('changed since it was read');
    expect(await svc('delete', 's', 'k', '--if-version', read.version)).toMatchObject({ code: 7, stdout: '' });
    const { version } = JSON.parse((await svc('get', 's', 'k', '--with-version')).stdout);
    expect(await svc('delete', 's', 'k', '--if-version', version, '--json')).toMatchObject({ stdout: '{"n":2}\n' });
    expect(await svc('get', 's', 'k', '--with-version')).toMatchObject({ code: 3, stdout: '' });
  });

  test('[CLI-4] both conditions together are a usage error', async () => {
    const done = await svc('set', 's', 'k', '1', '--if-absent', '--if-version', 'x');
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain('exclude each other');
  });
});

describe('svc state update', () => {
  test('[CLI-1] applies the operations in the given order', async () => {
    const ops = ['--op', 'increment:n:2', '--op', 'set:name:Ann', '--op', 'append:tags:{"x":1}', '--op', 'decrement:n'];
    expect(await svc('update', 's', 'k', ...ops)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await worker.state.get('s', 'k')).toEqual({ n: 1, name: 'Ann', tags: [{ x: 1 }] });
  });

  test('[CLI-4] a failed operation is reported on stderr with exit code 1, and the others apply', async () => {
    await worker.state.set('s', 'k', { name: 'Ann' });
    const done = await svc('update', 's', 'k', '--op', 'increment:name:1', '--op', 'set:a:1', '--json');
    expect(done.code).toBe(1);
    expect(done.stderr).toContain('operation 1 (increment) was skipped');
    expect(done.stderr).toContain('increment.not_number');
    expect(JSON.parse(done.stdout)).toMatchObject({ new_value: { name: 'Ann', a: 1 } });
  });

  test('[CLI-20] --ops takes the operations as a JSON list', async () => {
    const list = JSON.stringify([{ type: 'merge', path: ['a', 'b'], value: { c: 1 } }]);
    expect(await svc('update', 's', 'k', '--ops', list)).toMatchObject({ code: 0 });
    expect(await worker.state.get('s', 'k')).toEqual({ a: { b: { c: 1 } } });
  });

  test.each([
    [['--op', 'incr:n:1'], 'there is no operation'],
    [['--op', 'increment:n:half'], "'half' is not a whole number"],
    [['--op', 'set:name'], 'lacks a value'],
    [['--op', 'set:name:{"a"'], 'not valid JSON'],
    [['--ops', '{}'], 'must be a JSON list'],
    [[], 'No operation given'],
    [['--op', 'remove:a', '--ops', '[]'], 'exclude each other'],
  ])('[CLI-4] %j is a usage error', async (args, message) => {
    const done = await svc('update', 's', 'k', ...args);
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain(message);
  });
});

describe('svc state scopes, list, delete and diff', () => {
  test('[CLI-2] list prints the entries in the order of their keys', async () => {
    for (const key of ['b', 'a', 'ab']) await worker.state.set('s', key, { key });
    expect(await svc('list', 's', '--plain')).toMatchObject({
      stdout: 'a\t{"key":"a"}\nab\t{"key":"ab"}\nb\t{"key":"b"}\n',
      stderr: '',
    });
    expect((await svc('list', 's', '--prefix', 'a', '--keys')).stdout).toBe('KEY\na\nab\n');
    expect(JSON.parse((await svc('list', 's', '--prefix', 'b', '--json')).stdout)).toEqual([
      { key: 'b', value: { key: 'b' } },
    ]);
    expect(await svc('list', 'nothing', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  test('[CLI-2] scopes prints the scopes that have entries', async () => {
    await worker.state.set('b', 'k', 1);
    await worker.state.set('a', 'k', 1);
    expect((await svc('scopes', '--plain')).stdout).toBe('a\nb\n');
  });

  test('[CLI-4] delete removes the entry; a missing entry is exit code 3', async () => {
    await worker.state.set('s', 'k', { a: 1 });
    expect(await svc('delete', 's', 'k', '--json')).toMatchObject({ code: 0, stdout: '{"a":1}\n' });
    expect(await svc('delete', 's', 'k')).toMatchObject({ code: 3, stdout: '' });
  });

  test('[CLI-4] diff ends with exit code 1 when the values differ', async () => {
    await worker.state.set('s', 'a', { n: 1 });
    await worker.state.set('s', 'b', { n: 2 });
    expect(await svc('diff', 's', 'a', 'b')).toMatchObject({ code: 1, stdout: '  {\n-   "n": 1\n+   "n": 2\n  }\n' });
    expect(await svc('diff', 's', 'a', 'a')).toMatchObject({ code: 0, stdout: '' });
    expect(await svc('diff', 's', 'a', 'c')).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('svc state export and import', () => {
  const LINES = '{"scope":"a","key":"k","value":{"__proto__":1}}\n{"scope":"b","key":"größe","value":null}\n';

  test('[CLI-2] export prints one line for each entry, and import writes the entries', async () => {
    const env = { SVC_URL: engine.url };
    const written = await runSvc(['state', 'import', '-', '--json'], { env, input: LINES });
    expect(JSON.parse(written.stdout)).toEqual({ new: 1, changed: 0, same: 1, dry_run: false });
    expect(await svc('export', '-q')).toMatchObject({ code: 0, stdout: LINES, stderr: '' });
    expect((await svc('export', 'a', '--prefix', 'x')).stdout).toBe('');
  });

  test('[CLI-2] --dry-run writes nothing and counts the changes', async () => {
    await worker.state.set('a', 'k', 'old');
    const env = { SVC_URL: engine.url };
    const dry = await runSvc(['state', 'import', '-', '--dry-run', '--json'], { env, input: LINES });
    expect(JSON.parse(dry.stdout)).toMatchObject({ changed: 1, dry_run: true });
    expect(await worker.state.get('a', 'k')).toBe('old');
  });

  test.each([
    ['{"scope":"a","key":"k","value":1}\n{"scope":"a"', 'line 2 is not valid JSON'],
    ['{"scope":"a","key":"k","value":1}\n\n{"scope":"a","value":1}', 'line 3 lacks a key'],
    ['[1]', 'line 1 must be an object'],
  ])('[CLI-4] an invalid line stops the import before the first write', async (input, message) => {
    const done = await runSvc(['state', 'import', '-'], { env: { SVC_URL: engine.url }, input });
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain(message);
    expect(await svc('scopes', '-q')).toMatchObject({ stdout: '' });
  });
});

describe('svc state watch', () => {
  test('[CLI-2] prints one object per line until it is interrupted', async () => {
    const child = spawnSvc(['state', 'watch', 's', '--json'], { env: { SVC_URL: engine.url } });
    const done = finished(child);
    await waitForText(child.stderr, /Watching/);
    await worker.state.set('other', 'k', 0);
    const seen = waitForText(child.stdout, /state:deleted.*\n/);
    await worker.state.set('s', 'k', 1);
    await worker.state.delete('s', 'k');
    await seen;
    child.kill('SIGINT');
    const { code, stdout } = await done;
    const events = stdout.trimEnd().split('\n');
    expect(code).toBe(130);
    expect(events.map((line) => JSON.parse(line).event_type)).toEqual(['state:updated', 'state:deleted']);
  });

  test('[CLI-4] ends with exit code 5 when the engine stops', async () => {
    const other = await startEngineProcess(WITH_STATE);
    const child = spawnSvc(['state', 'watch'], { env: { SVC_URL: other.url } });
    const done = finished(child);
    await waitForText(child.stderr, /Watching/);
    other.child.kill('SIGKILL');
    await once(other.child, 'exit');
    expect((await done).code).toBe(5);
    await other.stop();
  });
});

test('[CLI-9] without the state module, the error names the module to add', async () => {
  const bare = await startEngineProcess();
  const done = await runSvc(['state', 'scopes'], { env: { SVC_URL: bare.url } });
  expect(done.code).toBe(3);
  expect(done.stderr).toContain('name: svc-state');
  await bare.stop();
});
