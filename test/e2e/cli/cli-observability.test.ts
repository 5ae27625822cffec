// `svc logs`, `trace`, `top`, `metrics`, `alerts` and `check` as real processes against a real engine.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { enqueue, receiptOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type EngineProcess, runSvc, spawnSvc, startEngineProcess, waitForText } from './cli-process.ts';

const CONFIG = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-queue
    config: {queue_configs: {mail: {type: standard}}, adapter: {name: builtin, config: {store_method: in_memory}}}
  - name: svc-observability
    config:
      enabled: true
      exporter: memory
      metrics_enabled: true
      payloads: all
      alerts: [{name: any-call, metric: svc.invocations.total, threshold: 0, action: {type: log}}]
`;

describe('observability commands', () => {
  let engine: EngineProcess;
  let worker: RawWorker;
  const svc = (...args: string[]) => runSvc([...args, '--url', engine.url]);
  const lines = (text: string) => text.trim().split('\n');

  beforeAll(async () => {
    engine = await startEngineProcess(CONFIG);
    worker = await RawWorker.connect(engine.url);
    await worker.serve('orders::create', () => ({ made: true }));
    await worker.serve('orders::fail', () => {
      throw new Error('no stock');
    });
    await worker.call('orders::create', {});
    await worker.call('orders::fail', {});
    await worker.call('engine::log::warn', { message: 'stock is low', data: { sku: 'a1', left: 2 } });
    await worker.call('engine::log::info', { message: 'first line\nsecond line', service_name: 'billing' });
    await waitFor(
      'it is observed',
      async () => {
        const { stdout } = await svc('trace', 'list', '--name', 'orders::', '-o', 'jsonl');
        return lines(stdout).filter((line) => line !== '').length >= 2;
      },
      30_000,
    );
  });

  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await engine?.stop();
  });

  test('[console 6.6] trace list shows the traces that match the filters', { timeout: 60_000 }, async () => {
    const all = JSON.parse((await svc('trace', 'list', '--name', 'orders::', '--json')).stdout);
    expect(all).toHaveLength(2);
    const created = await svc('trace', 'list', '--name', 'orders::create', '-o', 'jsonl');
    expect(JSON.parse(created.stdout)).toMatchObject({
      trace_id: expect.stringMatching(/^[\da-f]{32}$/),
      name: expect.stringContaining('orders::create'),
      duration_ms: expect.any(Number),
    });
    const none = await svc('trace', 'list', '--min', '10h');
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('No trace matches');
  });

  test('[console 6.6] trace show finds a trace by the first digits of its id, and draws no boxes in a pipe', {
    timeout: 60_000,
  }, async () => {
    const { trace_id: traceId } = JSON.parse(
      (await svc('trace', 'list', '--name', 'orders::create', '-o', 'jsonl')).stdout,
    );
    const shown = await svc('trace', 'show', traceId.slice(0, 12), '--plain');
    expect(shown.code).toBe(0);
    expect(shown.stdout).not.toMatch(/[│├└█]/);
    expect(lines(shown.stdout)[0]?.split('\t')).toEqual(
      expect.arrayContaining(['0', expect.stringContaining('orders::create'), 'critical']),
    );
    const document = JSON.parse((await svc('trace', 'show', traceId, '--json')).stdout);
    expect(document).toMatchObject({ trace_id: traceId, span_count: document.spans.length });
    expect(document.critical_path.length).toBeGreaterThan(0);
  });

  test('[console 6.6] runs lists the calls of one function with cause, worker, sizes and trace', {
    timeout: 60_000,
  }, async () => {
    const { stdout, code } = await svc('runs', 'orders::create', '-o', 'jsonl');
    expect(code).toBe(0);
    const [run] = lines(stdout).map((line) => JSON.parse(line));
    expect(run).toMatchObject({ status: 'ok', error: null, trace_id: expect.stringMatching(/^[\da-f]{32}$/) });
    expect(run.input_bytes).toBeGreaterThan(0);
    const none = await svc('runs', 'orders::create', '--errors', '--since', '1s');
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('No run matches. All traces since');
  });

  test('[console 6.6] run show prints input and output of one run, and run again repeats it', {
    timeout: 60_000,
  }, async () => {
    await worker.call('orders::create', { sku: 'a1' });
    const traceId = await waitFor('it is observed', async () => {
      const { stdout } = await svc('runs', 'orders::create', '-n', '1', '--json');
      const [run] = JSON.parse(stdout);
      return run?.input_bytes > 2 && run.trace_id;
    });
    const shown = await svc('run', 'show', traceId);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      function_id: 'orders::create',
      input: { value: { sku: 'a1' }, redacted: [] },
      output: { value: { made: true } },
    });
    const again = await svc('run', 'again', traceId, 'orders::create');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('{"made":true}') });
    const unknown = await svc('run', 'show', traceId, 'orders::cancel');
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('It has calls of: orders::create');
  });

  test('[console 6.6] run again sends no input of which a part is redacted', { timeout: 60_000 }, async () => {
    await worker.serve('orders::pay', () => ({ paid: true }));
    const before = worker.frames.length;
    await worker.call('orders::pay', { card: { secret: '4711' } });
    const traceId = await waitFor('it is observed', async () => {
      const { stdout } = await svc('runs', 'orders::pay', '--json');
      return JSON.parse(stdout)[0]?.trace_id;
    });
    const again = await svc('run', 'again', traceId, '--no-input');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('nothing was called. Secrets are redacted at /card/secret.');
    expect(worker.frames.length).toBe(before);
  });

  test('[console 6.6] [O7] an unknown trace is exit code 3, with what is stored, and an invalid id is exit code 2', {
    timeout: 60_000,
  }, async () => {
    const unknown = await svc('trace', 'show', '00000000');
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(unknown.stderr).toMatch(
      /All traces since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d are stored\..*trace_storage of svc-observability/,
    );
    expect(await svc('trace', 'show', 'nonsense')).toMatchObject({ code: 2, stdout: '' });
  });

  test('[console 6.6] the outcome of a job appears once in its trace, and a redrive is not listed as a trace', {
    timeout: 60_000,
  }, async () => {
    await using mailer = await RawWorker.connect(engine.url);
    await mailer.register('mail::send');
    const { result } = await worker.call('mail::send', {}, { action: { type: 'enqueue', queue: 'mail' } });
    const { messageReceiptId } = result as { messageReceiptId: string };
    mailer.answer(await mailer.next('invokefunction'), { error: { code: 'FATAL', message: 'no such customer' } });
    await waitFor('it is a dead letter', async () => (await svc('queue', 'dlq', 'show', messageReceiptId)).code === 0);
    expect(await svc('queue', 'dlq', 'redrive', messageReceiptId)).toMatchObject({ code: 0 });
    mailer.answer(await mailer.next('invokefunction'), { result: null });
    // Spans reach the list in the order in which they end: the span of the redrive would come before that of its job.
    const show = async () => JSON.parse((await svc('trace', 'show', 'last', '--json')).stdout);
    const attempts = await waitFor('both attempts are in the last trace', async () => {
      const { spans } = await show();
      const found = spans.filter(({ name }: { name: string }) => name === 'fn_queue mail');
      return found.length === 2 ? found : undefined;
    });
    const said = attempts.map((span: { status_description?: string }) => span.status_description);
    expect(said).toContain('FATAL: no such customer');
    expect((await svc('trace', 'list', '--name', 'redrive')).stdout).toBe('');
    expect((await svc('trace', 'list', '--name', 'redrive', '--internal')).stdout).toContain('svc::queue::redrive');
  });

  test('[TRC-19] trace export prints OTLP JSON or the trace event format of Chrome', { timeout: 60_000 }, async () => {
    const otlp = JSON.parse((await svc('trace', 'export', 'last')).stdout);
    expect(otlp.resourceSpans[0].scopeSpans[0].spans[0]).toMatchObject({
      traceId: expect.stringMatching(/^[\da-f]{32}$/),
    });
    const chrome = JSON.parse((await svc('trace', 'export', 'last', '--format', 'chrome')).stdout);
    expect(chrome.traceEvents.some(({ ph }: { ph: string }) => ph === 'X')).toBe(true);
  });

  test('[console 6.6] logs filters by level, text and service, newest last', { timeout: 60_000 }, async () => {
    const warnings = await svc('logs', '--level', 'warn', '--grep', 'stock', '-o', 'jsonl');
    expect(lines(warnings.stdout)).toHaveLength(1);
    expect(JSON.parse(warnings.stdout)).toMatchObject({ body: 'stock is low', attributes: { sku: 'a1', left: 2 } });
    const line = (await svc('logs', '--grep', 'stock is low', '--fields', 'left', '--plain')).stdout;
    expect(line.trim().split('\t').slice(1)).toEqual(expect.arrayContaining(['WARN', 'stock is low', 'left=2']));
    expect((await svc('logs', '--service', 'BILL')).stdout).toContain('first line');
    expect(await svc('logs', '--grep', '(')).toMatchObject({ code: 2 });
    expect(lines((await svc('logs', '--grep', '^stock\\s+is', '-o', 'jsonl')).stdout)).toHaveLength(1);
    // Only expressions that take linear time are accepted (PD-48).
    expect(await svc('logs', '--grep', '(?=stock)')).toMatchObject({ code: 2 });
    expect(await svc('logs', '--grep', 'a'.repeat(257))).toMatchObject({ code: 2 });
    expect(await svc('logs', '--since', 'yesterday')).toMatchObject({ code: 2 });
  });

  test('[console 6.6] logs -f prints each new entry once', { timeout: 60_000 }, async () => {
    const child = spawnSvc(['logs', '-f', '-n', '0', '--grep', 'followed', '--json', '--url', engine.url]);
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await waitForText(child.stderr, /Following/);
    for (const message of ['followed 1', 'followed 2']) await worker.call('engine::log::info', { message });
    await waitFor('the first is printed', () => out.includes('followed 2'), 15_000);
    await worker.call('engine::log::info', { message: 'followed 3' });
    await waitFor('the last is printed', () => out.includes('followed 3'), 15_000);
    child.kill('SIGINT');
    await new Promise((resolve) => child.once('close', resolve));
    expect(lines(out).map((line) => JSON.parse(line).body)).toEqual(['followed 1', 'followed 2', 'followed 3']);
    expect(child.exitCode).toBe(130);
  });

  test('[console 6.6] trace tail prints traces as they end', { timeout: 60_000 }, async () => {
    const child = spawnSvc(['trace', 'tail', '--name', 'orders::create', '--json', '--url', engine.url]);
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await waitForText(child.stderr, /Watching/);
    await worker.call('orders::create', {});
    await waitFor('it is printed', () => out.includes('\n'), 15_000);
    child.kill('SIGINT');
    await new Promise((resolve) => child.once('close', resolve));
    expect(lines(out).map((line) => JSON.parse(line).name)).toEqual([expect.stringContaining('orders::create')]);
  });

  test('[console 6.6] metrics, top and alerts show the calls that ran', { timeout: 60_000 }, async () => {
    const metrics = JSON.parse((await svc('metrics', '--json')).stdout);
    const total = metrics.find(({ name }: { name: string }) => name === 'svc.invocations.total');
    expect(total.value).toBeGreaterThanOrEqual(2);
    expect(await svc('metrics', 'no.such.metric')).toMatchObject({ code: 3 });
    const top = JSON.parse((await svc('top', '--once', '--interval', '100ms', '--json')).stdout);
    expect(top.functions.map((row: { function_id: string }) => row.function_id)).toContain('orders::create');
    expect(top.queues.map((row: { queue: string }) => row.queue)).toContain('mail');
    expect(await svc('alerts', 'evaluate')).toMatchObject({ code: 0, stdout: expect.stringContaining('any-call') });
    expect((await svc('alerts', 'list', '-o', 'csv')).stdout).toContain(
      'any-call,firing,svc.invocations.total > 0 over 60s',
    );
  });

  test('[CLI-31] check answers with the exit codes of monitoring systems', { timeout: 90_000 }, async () => {
    expect(await svc('check', 'engine')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK +engine/) });
    await using far = await CutProxy.start(Number(new URL(engine.url).port), { delayMs: 20 });
    const slow = await runSvc(['check', 'engine', '--rtt-critical', '20ms', '--url', far.url]);
    expect(slow).toMatchObject({ code: 2, stdout: expect.stringContaining('rtt') });
    expect(await svc('check', 'function', 'orders::create')).toMatchObject({ code: 0 });
    expect(await svc('check', 'function', 'orders::create', '--min-workers', '2')).toMatchObject({ code: 2 });
    expect(await svc('check', 'function', 'orders::nothing')).toMatchObject({ code: 2 });
    expect(await svc('check', 'function', 'orders::fail', '--errors-warn', '50')).toMatchObject({ code: 1 });
    expect(await svc('check', 'queue', 'mail', '--depth-warn', '1')).toMatchObject({ code: 0 });
    expect(await svc('check', 'queue', 'mail', '--depth-warn', '0')).toMatchObject({ code: 1 });
    await receiptOf(enqueue(worker, 'orders::later', 1, { delay_ms: 3_600_000 }));
    expect(await svc('check', 'queue', 'default', '--oldest-warn', '1ms')).toMatchObject({ code: 1 });
    expect(await svc('check', 'queue', 'default', '--oldest-critical', '1h')).toMatchObject({ code: 0 });
    expect(await svc('check', 'queue', 'none')).toMatchObject({ code: 2 });
    expect(await svc('check', 'worker', 'missing')).toMatchObject({ code: 2 });
    expect(await svc('check', 'trigger', 'none')).toMatchObject({ code: 2 });
    expect(await svc('check', 'queue')).toMatchObject({ code: 3, stdout: '' });
  });

  test('[CLI-31] check prints nagios, JSON and prometheus output', { timeout: 60_000 }, async () => {
    const nagios = (await svc('check', 'queue', 'mail', '--depth-warn', '5', '-o', 'nagios')).stdout;
    expect(nagios).toMatch(/^SVC queue mail OK - .* \| depth=0;5 oldest=0ms dead=0\n$/);
    const json = JSON.parse((await svc('check', 'queue', 'mail', '--json')).stdout);
    expect(json).toMatchObject({
      check: 'queue',
      subject: 'mail',
      status: 'ok',
      code: 0,
      measures: [{ name: 'depth' }, {}, {}],
    });
    const prometheus = (await svc('check', 'queue', 'mail', '-o', 'prometheus')).stdout;
    expect(prometheus).toContain('svc_check_status{check="queue",service_name="svc",subject="mail"} 0\n');
  });

  test('[CLI-31] without an engine, check engine is critical and the other checks are unknown', {
    timeout: 60_000,
  }, async () => {
    const nowhere = ['--url', 'ws://127.0.0.1:1'];
    const down = await runSvc(['check', 'engine', '-o', 'nagios', ...nowhere]);
    expect(down).toMatchObject({ code: 2, stdout: expect.stringContaining('SVC engine CRITICAL - Cannot reach') });
    expect(await runSvc(['check', 'alerts', ...nowhere])).toMatchObject({ code: 3 });
  });

  test('[CLI-6] trace clear needs a confirmation', { timeout: 60_000 }, async () => {
    expect(await svc('trace', 'clear')).toMatchObject({ code: 2 });
    expect(await svc('trace', 'clear', '--yes')).toMatchObject({ code: 0 });
    expect((await svc('trace', 'list', '--name', 'orders::fail')).stdout).toBe('');
  });

  test('[CLI-22] a call prints its worker and its trace id', { timeout: 120_000 }, async () => {
    await worker.serve('seen::create', () => ({ made: true }));
    await worker.serve('seen::fail', () => {
      throw new Error('no stock');
    });
    // The telemetry thread yields to calls: on a busy machine it may answer later than the test waits.
    const said = async (pattern: RegExp, ...args: string[]) =>
      waitFor(
        `it says ${pattern}`,
        async () => pattern.exec((await svc('trigger', ...args)).stderr)?.[1] ?? false,
        100_000,
      );
    const made = await said(/^✔ [\d.]+ m?s {2}worker=\S+ {2}trace=([\da-f]{32})$/m, 'seen::create');
    expect((await svc('trace', 'show', made)).stdout).toContain('seen::create');
    const sent = await said(/^✔ .* not waited for {2}worker=\S+ {2}trace=(\w+)$/m, 'seen::create', '--void');
    expect((await svc('trace', 'show', sent)).stdout).toContain('seen::create');
    const failed = await said(/svc trace show ([\da-f]{32}) --logs/, 'seen::fail');
    expect((await svc('trace', 'show', failed, '--logs')).stdout).toContain('no stock');
  });

  test('[CLI-21] [CLI-22] trigger --trace draws the trace on stderr, also of a failed call', {
    timeout: 60_000,
  }, async () => {
    await worker.serve('traced::create', () => ({ made: true }));
    await worker.serve('traced::fail', () => {
      throw new Error('no stock');
    });
    const made = await svc('trigger', 'traced::create', '--trace');
    expect(made).toMatchObject({ code: 0, stdout: '{"made":true}\n' });
    const [, id = ''] = /trace=([\da-f]{32})/.exec(made.stderr) ?? [];
    expect(made.stderr).toContain(id.slice(0, 16));
    expect(made.stderr).toMatch(/^call traced::create {2}/m);
    const failed = await svc('trigger', 'traced::fail', '--trace');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/^call traced::fail .*no stock/m);
    expect((await svc('trace', 'show', id)).stdout).toContain('traced::create');
    expect((await svc('trigger', 'traced::create', '--trace', '--repeat', '2')).code).toBe(2);
  });
});

test('[console 6.6] figures of an engine that counts no calls are absent, not zero', async () => {
  const yaml = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-observability}
`;
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('any::one', () => 1);
  await worker.call('any::one', {});
  const env = { SVC_URL: engine.url };
  const top = await runSvc(['top', '--once', '--interval', '100ms'], { env });
  expect(top.stdout).toContain('calls are not counted: set metrics_enabled of svc-observability');
  const json = await runSvc(['top', '--once', '--interval', '100ms', '--json'], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ calls_per_second: null, errors_per_second: null, functions: [] });
  const check = await runSvc(['check', 'function', 'any::one'], { env });
  expect(check).toMatchObject({ code: 3, stdout: expect.stringContaining('not counted') });
  const { error } = await worker.call('engine::metrics::jobs', {});
  expect(error).toMatchObject({ code: 'memory_exporter_not_enabled' });
});
