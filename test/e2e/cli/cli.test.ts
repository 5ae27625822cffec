// Client commands as processes against a real engine and a real worker.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { OnTerminal, terminalsMissing } from '../../support/engine/pty.ts';
import { startQueueEngine } from '../../support/stores/queue-engine.ts';
import {
  type EngineProcess,
  finished,
  makeFolder,
  runSvc,
  SVC,
  spawnSvc,
  startEngineProcess,
  waitForText,
} from './cli-process.ts';

const NO_ENGINE = 'ws://127.0.0.1:9';

let engine: EngineProcess;
let worker: SvcWorker;

beforeAll(async () => {
  engine = await startEngineProcess();
  worker = registerWorker(engine.url, { worker_name: 'orders', handle_signals: false, drain_timeout_ms: 0 });
  worker.registerFunction('orders::echo', (payload: unknown) => payload);
  worker.registerFunction('orders::fail', () => {
    throw new Error('no \u001b[31msku');
  });
  worker.registerFunction('orders::never', () => new Promise(() => undefined));
  const request_format = {
    type: 'object',
    required: ['sku'],
    properties: { sku: { type: 'string', description: 'Article number' }, qty: { type: 'integer', default: 1 } },
  };
  worker.registerFunction({ id: 'orders::repeat', request_format }, (payload: unknown) => payload);
  worker.registerFunction({ id: 'orders::create', description: 'Creates an order', request_format }, () => ({ id: 1 }));
  await worker.ready();
  await worker.trigger({ function_id: 'orders::echo', payload: null });
});

afterAll(async () => {
  await worker?.shutdown();
  await engine?.stop();
});

function svc(...args: string[]) {
  return runSvc(args, { env: { SVC_URL: engine.url } });
}

describe.concurrent('svc trigger', { timeout: 60_000 }, () => {
  test('[CLI-22] --function-id and --payload: the result is JSON on stdout, the duration is on stderr', async () => {
    const done = await svc('trigger', '--function-id=orders::echo', '--payload={"sku":"a1"}');
    expect(done).toMatchObject({ code: 0, stdout: '{"sku":"a1"}\n' });
    expect(done.stderr).toMatch(/^✔ [\d.]+ m?s( {2}|\n$)/);
  });

  test('[CLI-20] pairs build the payload and override the keys of --payload', async () => {
    const done = await svc('trigger', 'orders::echo', 'sku=a1', 'qty:=2', 'tags[]=new', 'to.city=Oslo', '-q');
    expect(JSON.parse(done.stdout)).toEqual({ sku: 'a1', qty: 2, tags: ['new'], to: { city: 'Oslo' } });
    expect(done.stderr).toBe('');
    const over = await svc('trigger', 'orders::echo', '--payload', '{"sku":"old","qty":1}', 'sku=new');
    expect(JSON.parse(over.stdout)).toEqual({ sku: 'new', qty: 1 });
  });

  test('-vv also prints every frame, without secrets', async () => {
    const done = await svc('trigger', 'orders::echo', 'sku=a1', 'password=hunter2', '-vv');
    expect(done.stdout).toBe('{"sku":"a1","password":"hunter2"}\n');
    expect(done.stderr).toMatch(/^> \{.*"invokefunction".*"orders::echo".*"password":"\[redacted\]"/m);
    expect(done.stderr).toMatch(/^< \{.*"invocationresult".*"sku":"a1"/m);
    expect(done.stderr).not.toContain('hunter2');
    expect((await svc('trigger', 'orders::echo', '-v')).stderr).not.toContain('invokefunction');
  });

  test('[CLI-20] the payload may come from a file or from stdin', async () => {
    const folder = await makeFolder({ 'payload.json': '{"from":"file"}' });
    const env = { SVC_URL: engine.url };
    const options = { env, cwd: folder.path };
    expect((await runSvc(['trigger', 'orders::echo', '--payload', '@payload.json'], options)).stdout).toBe(
      '{"from":"file"}\n',
    );
    const missing = await runSvc(['trigger', 'orders::echo', '--payload', '@none.json'], options);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toContain(`Cannot read the payload from ${join(folder.path, 'none.json')} (ENOENT).`);
    const fromInput = await runSvc(['trigger', 'orders::echo', '--payload', '-'], { env, input: '["stdin"]' });
    expect(fromInput.stdout).toBe('["stdin"]\n');
    await folder.remove();
  });

  test('[CLI-22] a handler that throws is reported with message, code and stack frames, and exit code 1', async () => {
    const done = await svc('trigger', 'orders::fail');
    expect(done).toMatchObject({ code: 1, stdout: '' });
    expect(done.stderr).toContain('error: orders::fail failed: no [31msku');
    expect(done.stderr).toContain('code INVOCATION_FAILED');
    expect(done.stderr).toMatch(/at .*cli\.test\.ts/);
  });

  test('[CLI-8] an unknown function gets suggestions and exit code 3', async () => {
    const done = await svc('trigger', 'orders::ecko', '--json');
    expect(done).toMatchObject({ code: 3, stdout: '' });
    const { error } = JSON.parse(done.stderr);
    expect(error).toMatchObject({ code: 'function_not_found', function_id: 'orders::ecko' });
    expect(error.suggestions[0]).toBe('orders::echo');
    expect(error.hint).toContain('orders::echo');
  });

  test('[CLI-4] a call that takes too long ends with exit code 4', async () => {
    const done = await svc('trigger', 'orders::never', '--timeout', '2s');
    expect(done).toMatchObject({ code: 4, stdout: '' });
    expect(done.stderr).toContain('code TIMEOUT');
  });

  test('[CLI-21] --void does not wait and prints no result', async () => {
    const done = await svc('trigger', 'orders::never', '--void');
    expect(done).toMatchObject({ code: 0, stdout: '' });
    expect(done.stderr).toMatch(/^✔ .* not waited for( {2}|\n$)/);
    expect((await svc('trigger', 'orders::never', '--void', '--json')).stdout).toBe('null\n');
  });

  test('[CLI-4] an unknown queue is refused with the reason', async () => {
    const done = await svc('trigger', 'orders::echo', '--queue', 'no-such-queue', '--json');
    expect(done.stdout).toBe('');
    expect(JSON.parse(done.stderr).error).toMatchObject({ code: 'enqueue_error', reason: expect.any(String) });
    expect([3, 6]).toContain(done.code);
  });

  test('[CLI-21] --repeat prints every result; with --json, one document with durations', async () => {
    const lines = await svc('trigger', 'orders::echo', 'a:=1', '--repeat', '5', '--concurrency', '2');
    expect(lines.stdout).toBe('{"a":1}\n'.repeat(5));
    expect(lines.stderr).toMatch(/^5 calls in .* none failed\n {2}min .* max /);
    const document = JSON.parse((await svc('trigger', 'orders::echo', 'a:=1', '--repeat', '5', '--json')).stdout);
    expect(document).toMatchObject({ calls: 5, succeeded: 5, failed: 0, errors: {}, results: Array(5).fill({ a: 1 }) });
    expect(document.latency_ms.min).toBeGreaterThan(0);
    const failing = await svc('trigger', 'orders::fail', '--repeat', '3');
    expect(failing).toMatchObject({ code: 1, stdout: '' });
    expect(failing.stderr).toContain('3 failed (invocation_failed 3)');
  });

  test('[CLI-21] --edit needs a terminal', async () => {
    const done = await svc('trigger', 'orders::create', '--edit');
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain('Pass the payload with --payload.');
  });

  describe.skipIf(terminalsMissing() !== undefined)('[CLI-21] --edit', () => {
    const edit = (EDITOR: string, ...args: string[]) => {
      const command = [process.execPath, SVC, 'trigger', 'orders::repeat', '--edit', ...args];
      return new OnTerminal(command, { cwd: tmpdir(), env: { EDITOR, VISUAL: '', SVC_URL: engine.url } });
    };

    test('starts from the expected fields and the given values, and calls with the edited payload', async () => {
      await using terminal = edit(`sed -i -e 's/"sku": ""/"sku": "a1"/' -e "\\$ a // end"`, 'gift:=true');
      expect(await terminal.ends()).toBe(0);
      expect(terminal.screen.replaceAll(/\s+/g, '')).toContain('{"sku":"a1","qty":1,"gift":true}');
    });

    test('shows the parameters in the file', async () => {
      await using terminal = edit('cat');
      expect(await terminal.ends()).toBe(0);
      expect(terminal.screen).toMatch(/\/\/ +sku +string, required\. Article number/);
    });

    test('makes no call when the file is emptied or the editor fails; a file with invalid JSON is kept', async () => {
      await using emptied = edit('truncate -s 0');
      await using failed = edit('false');
      await using broken = edit("sed -i 's/{/{{/'");
      expect([await emptied.ends(), await failed.ends(), await broken.ends()]).toEqual([1, 2, 2]);
      expect(emptied.screen).toContain('nothing was called');
      expect(failed.screen).toContain("The editor 'false' ended with 1: nothing was called.");
      const [, file = ''] = /--payload @(\S+)/.exec(broken.screen) ?? [];
      expect(await readFile(file, 'utf8')).toContain('{{');
      await rm(dirname(file), { recursive: true });
    });
  });

  test('[CLI-23] --help with an id also shows the parameters, and works without an engine', async () => {
    const done = await svc('trigger', 'orders::create', '--help');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain('orders::create: Creates an order');
    expect(done.stdout).toMatch(/sku +string, required\. Article number/);
    expect(done.stdout).toMatch(/qty +integer\. Default 1\./);
    const alone = await runSvc(['trigger', 'orders::create', '--help'], { env: { SVC_URL: NO_ENGINE } });
    expect(alone).toMatchObject({ code: 0, stderr: '' });
    expect(alone.stdout).toContain('Usage: svc trigger <id> [payload | key=value ...] [flags]');
    expect(alone.stdout).not.toContain('Creates an order');
  });

  test.each([
    [['trigger'], 'No function given.'],
    [['trigger', 'a=1'], "'a=1' is a key=value pair"],
    [['trigger', 'a::b', '--payload', '{'], 'not valid JSON'],
    [['trigger', 'a::b', 'nopair'], "'nopair' is not a pair"],
    [['trigger', 'a::b', '--void', '--queue', 'q'], '--void and --queue exclude each other'],
    [['trigger', 'a::b', '--token=x'], '--token-file'],
    [['trigger', 'a::b', '-o', 'csv'], 'svc trigger does not print csv'],
    [['functions', 'list', 'x'], "does not take 'x'"],
    [['functions', 'info'], 'svc function info needs <id>'],
    [['functions', 'list', '--url', 'http://x'], 'expected ws://host:port'],
    [['functions'], 'svc function list, svc function info'],
    [['triger'], 'Did you mean: svc trigger?'],
  ])('[CLI-4] %j is a usage error with exit code 2 and the reason', async (args, text) => {
    const done = await svc(...args);
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain(text);
  });
});

describe('svc functions, workers, version', () => {
  test('[CLI-2] function list is a table in a pipe, tab-separated with --plain, and one document with --json', async () => {
    expect((await svc('function', 'list', '--ns', 'orders')).stdout).toMatch(
      /^FUNCTION ID +WORKERS +.*\norders::create +orders/,
    );
    const done = await svc('function', 'list', '--ns', 'orders', '--plain');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout.trimEnd().split('\n')[0]?.split('\t').slice(0, 2)).toEqual(['orders::create', 'orders']);
    const records = JSON.parse((await svc('functions', 'list', '--json')).stdout);
    const ids = records.map((record: { function_id: string }) => record.function_id);
    expect(ids).toEqual(['orders::create', 'orders::echo', 'orders::fail', 'orders::never', 'orders::repeat']);
    const internal = JSON.parse((await svc('functions', 'list', '--internal', '--search', 'health', '--json')).stdout);
    expect(internal).toContainEqual(expect.objectContaining({ function_id: 'engine::health::check' }));
  });

  test('[CLI-15] --limit is the largest number of rows, and a note names the rest', async () => {
    const done = await svc('function', 'list', '--ns', 'orders', '-n', '2', '--plain');
    expect(done.stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(done.stderr).toContain('2 of 5 functions. More with -n.');
  });

  test('[CLI-15] The noun may be plural, and svc trigger list suggests the command for triggers', async () => {
    const [one, several] = await Promise.all([svc('function', 'list', '--json'), svc('functions', 'list', '--json')]);
    expect(several.stdout).toBe(one.stdout);
    const mistaken = await svc('trigger', 'list');
    expect(mistaken).toMatchObject({ code: 3, stderr: expect.stringContaining('Did you mean: svc triggers list?') });
  });

  test('[FUN-2] functions list shows functions of workers; those of modules only with --internal', async () => {
    await using queues = await startQueueEngine();
    const shop = registerWorker(queues.url, { worker_name: 'shop', handle_signals: false });
    shop.registerFunction('shop::sell', () => null);
    await shop.ready();
    const list = (...args: string[]) => runSvc(['function', 'list', '--plain', '--url', queues.url, ...args]);
    expect((await list()).stdout).toMatch(/^shop::sell\tshop\t[^\n]*\n$/);
    expect((await list('--internal', '--ns', 'engine::queue')).stdout).toContain('engine::queue::list\tsvc-queue');
    const none = await list('--search', 'dead letter');
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('with --internal') });
    await shop.shutdown();
  });

  test('[CLI-8] functions info shows schemas and an example call; an unknown id gets suggestions', async () => {
    const done = await svc('functions', 'info', 'orders::create');
    expect(done.stdout).toContain('svc trigger orders::create sku=text');
    expect(JSON.parse((await svc('functions', 'info', 'orders::create', '--json')).stdout)).toMatchObject({
      function_id: 'orders::create',
      description: 'Creates an order',
    });
    const unknown = await svc('functions', 'info', 'orders::creat');
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(unknown.stderr).toContain('Did you mean: orders::create');
  });

  test('[CLI-2] workers list and worker list are the same command, and do not list their own connection', async () => {
    const [one, other] = await Promise.all([svc('workers', 'list', '--json'), svc('worker', 'list', '--json')]);
    const names = (text: string) => JSON.parse(text).map((record: { name: string | null }) => record.name);
    expect(names(one.stdout)).toEqual(names(other.stdout));
    expect(names(one.stdout)).toContain('orders');
    expect(names(one.stdout)).not.toContain(null);
    const csv = (await svc('workers', 'list', '-o', 'csv', '--search', 'orders')).stdout.split('\n');
    expect(csv[0]).toMatch(/^name,status,functions,in_flight,connected,/);
    expect(csv[1]).toMatch(/^orders,available,5,\d+,\d{4}-\d\d-\d\dT/);
  });

  test('worker list --watch shows workers that connect and disconnect', async () => {
    const child = spawnSvc(['worker', 'list', '--watch', '--json'], { env: { SVC_URL: engine.url } });
    await waitForText(child.stdout, /"name":"orders"/);
    const guest = registerWorker(engine.url, { worker_name: 'guest', handle_signals: false, drain_timeout_ms: 0 });
    await waitForText(child.stdout, /"name":"guest"/);
    await guest.shutdown();
    await waitForText(child.stdout, /^(?!.*"guest").*"orders".*$/m);
    child.kill('SIGINT');
    expect((await finished(child)).code).toBe(130);
  });

  test('[CLI-13] version names command line, engine and workers, and needs no engine', async () => {
    const versions = JSON.parse((await svc('version', '--json')).stdout);
    expect(versions).toMatchObject({
      cli: engine.startDocument.version,
      engine: { version: engine.startDocument.version },
      workers: [expect.objectContaining({ name: 'orders' })],
    });
    const alone = await runSvc(['version', '--json', '--url', NO_ENGINE]);
    expect(alone.code).toBe(0);
    expect(JSON.parse(alone.stdout)).toMatchObject({ engine: null, workers: [] });
    expect((await runSvc(['--version'])).stdout).toBe(`svc ${versions.cli}\n`);
  });
});

describe.concurrent('an engine that cannot be reached', { timeout: 60_000 }, () => {
  test('[CLI-9] the error names address, reason and next step, with exit code 5', async () => {
    const done = await runSvc(['functions', 'list', '--url', NO_ENGINE]);
    expect(done).toMatchObject({ code: 5, stdout: '' });
    expect(done.stderr).toBe(
      `error: Cannot reach the engine at ${NO_ENGINE} (connection refused).\n` +
        'Start it with: svc --config svc-config.yaml\n',
    );
  });

  test('[CLI-3] with --json the error is JSON on stderr', async () => {
    const done = await runSvc(['functions', 'list', '--json', '--url', 'ws://user:secret@127.0.0.1:9']);
    expect(done).toMatchObject({ code: 5, stdout: '' });
    expect(done.stderr).not.toContain('secret');
    expect(JSON.parse(done.stderr)).toEqual({
      error: {
        code: 'ENGINE_UNREACHABLE',
        message: expect.stringContaining('connection refused'),
        hint: 'Start it with: svc --config svc-config.yaml',
        doc_url: 'docs/errors.md#ENGINE_UNREACHABLE',
        address: expect.any(String),
      },
    });
  });

  test('[CLI-4] a command whose engine is killed during the call ends with exit code 5', async () => {
    const mortal = await startEngineProcess();
    const handler = registerWorker(mortal.url, { handle_signals: false, drain_timeout_ms: 0, log: () => undefined });
    const called = new Promise<void>((resolve) => {
      handler.registerFunction('mortal::wait', () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    await handler.ready();
    const running = runSvc(['trigger', 'mortal::wait', '--json'], { env: { SVC_URL: mortal.url } });
    await called;
    mortal.child.kill('SIGKILL');
    const done = await running;
    expect(done).toMatchObject({ code: 5, stdout: '' });
    expect(JSON.parse(done.stderr).error.code).toBe('ENGINE_UNREACHABLE');
    await handler.shutdown();
    await mortal.stop();
  });
});

describe('a worker port with a bridge token', () => {
  test('[CLI-4] a command without the token is refused; a file or a variable gives the token', async () => {
    const token = 'a-token-of-more-than-thirty-two-bytes';
    const guarded = await startEngineProcess(
      `bridge_token: ${token}\nworkers:\n  - name: svc-worker-manager\n    config:\n      port: 0\n`,
    );
    const folder = await makeFolder();
    await writeFile(join(folder.path, 'token'), `${token}\n`);
    const list = (env: Record<string, string>, ...args: string[]) =>
      runSvc(['functions', 'list', '--json', ...args], { env: { SVC_URL: guarded.url, ...env }, cwd: folder.path });

    const refused = await list({});
    expect(refused.code).toBe(6);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'UNAUTHORIZED', hint: expect.any(String) });
    expect((await list({ SVC_TOKEN: 'wrong' })).code).toBe(6);
    expect(await list({ SVC_TOKEN: token })).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(await list({}, '--token-file', 'token')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(await list({ SVC_TOKEN: token }, '--token-file', 'none')).toMatchObject({ code: 2 });
    const broken = await list({ SVC_TOKEN: 'two words' });
    expect(broken.code).toBe(2);
    expect(broken.stderr).not.toContain('two words');
    await folder.remove();
    await guarded.stop();
  });
});

describe.concurrent('questions', { timeout: 60_000 }, () => {
  test.each([
    ['trigger', 'orders::create'],
    ['functions', 'list'],
    ['workers', 'list'],
    ['config', 'show', '--use-default-config'],
  ])('[CLI-6] without a terminal, svc %s asks no question and ends, although its input stays open', async (...args) => {
    const child = spawnSvc(args, { env: { SVC_URL: engine.url } });
    const { code } = await finished(child);
    expect(code).toBe(0);
  });
});
