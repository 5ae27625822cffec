// The functions of observability on a running engine, over real sockets and real threads.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields, OBSERVED, observedBy, refusalOf } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('logs', () => {
  test('[K1] use the new logs_sampling_ratio from the reload on, also those that workers send', async () => {
    using folder = new TemporaryFolder();
    const file = join(folder.path, 'svc-config.yaml');
    const yaml = (ratio: number) => observedBy(JSON.stringify({ logs_sampling_ratio: ratio }));
    writeFileSync(file, yaml(0));
    await using engine = await startTestEngine({ configFile: file });
    await using worker = await RawWorker.connect(engine.url);
    sendLog(worker, 'before');
    await log(worker, 'engine::log::info', { message: 'before' });
    expect((await ask(worker, 'engine::logs::list')).total).toBe(0);
    writeFileSync(file, yaml(1));
    expect(await engine.reload()).toMatchObject({ ok: true });
    sendLog(worker, 'after');
    const bodies = async () =>
      ((await ask(worker, 'engine::logs::search', { services: ['shop'] })).logs as Fields[]).map(({ body }) => body);
    await waitFor('the log of the worker is kept', async () => (await bodies()).length > 0);
    expect(await bodies()).toEqual(['after']);
  });

  test('[guarantees 2.8] are listed with all fields, newest first', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    const traceId = 'a'.repeat(32);
    const data = { order: 7, user: { id: 'u' } };
    const logged = { message: 'first', data, trace_id: traceId, span_id: 'b'.repeat(16), service_name: 'shop' };
    expect((await worker.call('engine::log::warn', logged)).result).toBeNull();
    await log(worker, 'engine::log::info', { message: 'second', data: 'text', service_name: 'shop' });
    const answer = await ask(worker, 'engine::logs::list', { severity_min: 9, trace_id: traceId });
    expect(answer).toMatchObject({
      total: 1,
      query: { ...NO_QUERY, severity_min: 9, trace_id: traceId },
      timestamp: expect.any(Number),
    });
    expect(answer.logs).toEqual([
      {
        timestamp_unix_nano: expect.any(Number),
        observed_timestamp_unix_nano: expect.any(Number),
        severity_number: 13,
        severity_text: 'WARN',
        body: 'first',
        attributes: data,
        trace_id: traceId,
        span_id: 'b'.repeat(16),
        resource: { 'service.name': 'svc' },
        service_name: 'shop',
        instrumentation_scope_name: 'svc',
        instrumentation_scope_version: expect.any(String),
        log_id: expect.any(Number),
      },
    ]);
    await log(worker, 'engine::log::info', { message: 'third', service_name: '' });
    const { logs: unnamed } = await ask(worker, 'engine::logs::search', { services: [worker.workerId] });
    expect(unnamed).toMatchObject([{ body: 'third' }]);
    const all = await ask(worker, 'engine::logs::search', { services: ['shop'] });
    expect((all.logs as Fields[]).map(({ body, attributes }) => [body, attributes])).toEqual([
      ['second', { data: 'text' }],
      ['first', data],
    ]);
  });

  test('are found by level in any case, and invalid values in a query are refused', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    for (const level of ['trace', 'debug', 'info', 'warn', 'error']) {
      await log(worker, `engine::log::${level}`, { message: level, service_name: 'levels' });
    }
    const warnings = await ask(worker, 'engine::logs::search', { severities: ['Warn'], services: ['levels'] });
    expect((warnings.logs as Fields[]).map(({ body }) => body)).toEqual(['warn']);
    expect(await refusalOf(worker, 'engine::logs::list', { severity_min: 25 })).toBe('BAD_REQUEST');
    expect(await refusalOf(worker, 'engine::logs::list', { limit: 1001 })).toBe('BAD_REQUEST');
    expect(await refusalOf(worker, 'engine::logs::list', { start_time: 2, end_time: 1 })).toBe('BAD_REQUEST');
    expect(await refusalOf(worker, 'engine::logs::list', { limit: 'many' })).toBe('deserialization_error');
    expect(await refusalOf(worker, 'engine::log::info', {})).toBe('deserialization_error');
  });

  test('[LOG-4] are found by words, phrases, fields and expressions; a syntax error has its position', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    await log(worker, 'engine::log::error', { message: 'order 17 failed', data: { code: 'E1' }, service_name: 'q' });
    await log(worker, 'engine::log::info', { message: 'order 18 done', service_name: 'q' });
    const found = await ask(worker, 'engine::logs::search', {
      query: 'service:q severity>=warn "order 17" attr.code=E1 -done /f[a-z]+d$/',
    });
    expect(found).toMatchObject({ total: 1, services: [{ service_name: 'q', count: 1 }] });
    const { error } = await worker.call('engine::logs::search', { query: 'x /(/' });
    expect(error).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('at character 3') });
  });

  test('[LOG-3] [LOG-6] are counted by severity, and shown around one of them', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    for (const message of ['one', 'two', 'three']) {
      await log(worker, 'engine::log::error', { message, service_name: 'h' });
    }
    const histogram = await ask(worker, 'engine::logs::histogram', { services: ['h'], buckets: 10 });
    const buckets = histogram.buckets as { counts: Record<string, number> }[];
    expect(histogram.total).toBe(3);
    expect(buckets.reduce((sum, { counts }) => sum + (counts.ERROR ?? 0), 0)).toBe(3);
    const { logs } = await ask(worker, 'engine::logs::search', { query: 'two', services: ['h'] });
    const [{ log_id: id } = { log_id: 0 }] = logs as { log_id: number }[];
    const around = await ask(worker, 'engine::logs::context', { log_id: id, before: 1, after: 1 });
    expect((around.logs as Fields[]).map(({ body }) => body)).toEqual(['one', 'two', 'three']);
    expect(await refusalOf(worker, 'engine::logs::context', { log_id: 10_000_000 })).toBe('NOT_FOUND');
    expect(await ask(worker, 'engine::logs::clear')).toEqual({ success: true });
    expect((await ask(worker, 'engine::logs::search', { services: ['h'] })).total).toBe(0);
  });

  test('[O1] over 16 KiB are cut, marked and counted, and the oldest leave when there are too many', async () => {
    await using engine = await startTestEngine({
      yaml: observedBy('{enabled: true, exporter: memory, logs_max_count: 3}'),
    });
    await using worker = await RawWorker.connect(engine.url);
    await log(worker, 'engine::log::info', { message: 'x'.repeat(100_000), service_name: 'big' });
    const { logs } = await ask(worker, 'engine::logs::search', { services: ['big'] });
    const [record] = logs as { body: string; attributes: Fields }[];
    expect(record?.body.length).toBe(16 * 1024 - 'svc.truncated'.length - 'true'.length);
    await expectCount(engine, 1, 'telemetry.dropped', 'logs,truncated');
    expect(record?.attributes).toEqual({ 'svc.truncated': true });
    for (let at = 0; at < 5; at++) await log(worker, 'engine::log::info', { message: `${at}`, service_name: 'n' });
    const kept = await ask(worker, 'engine::logs::list');
    expect(kept.total).toBe(3);
    expect(engine.counters.get('telemetry.dropped', 'logs,limit')).toBeGreaterThanOrEqual(2);
  });

  test('are not stored without log storage', async () => {
    await using engine = await startTestEngine({ yaml: observedBy('{logs_enabled: false}') });
    await using worker = await RawWorker.connect(engine.url);
    expect((await worker.call('engine::log::info', { message: 'gone' })).result).toBeNull();
    expect(await ask(worker, 'engine::logs::list')).toEqual({ logs: [], total: 0, timestamp: expect.any(Number) });
    expect(await ask(worker, 'engine::logs::clear')).toEqual({ success: true, message: expect.any(String) });
  });
});

async function bind(worker: RawWorker, functionId: string, config: Fields): Promise<void> {
  worker.send({ type: 'registertrigger', id: functionId, trigger_type: 'log', function_id: functionId, config });
  await worker.settled();
}

async function log(worker: RawWorker, id: string, payload: Fields): Promise<void> {
  expect((await worker.call(id, payload)).result).toBeNull();
}

const NO_QUERY = {
  start_time: null,
  end_time: null,
  trace_id: null,
  span_id: null,
  severity_min: null,
  severity_text: null,
  offset: null,
  limit: null,
};

describe('the log trigger', () => {
  test('fires for records of its level that its condition accepts', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    const seen: unknown[] = [];
    await worker.serve('watch::errors', (record) => seen.push((record as Fields).body));
    await worker.serve('watch::is_mine', (record) => (record as Fields).service_name === 'mine');
    await bind(worker, 'watch::errors', { level: 'Error', condition_function_id: 'watch::is_mine' });
    await log(worker, 'engine::log::warn', { message: 'too low', service_name: 'mine' });
    await log(worker, 'engine::log::error', { message: 'not mine', service_name: 'yours' });
    await log(worker, 'engine::log::error', { message: 'mine', service_name: 'mine' });
    await waitFor('the trigger fires', () => seen.length > 0);
    expect(seen).toEqual(['mine']);
  });

  test('[O3] does not fire for the logs of its own handler', async () => {
    await using engine = await startTestEngine({ yaml: OBSERVED });
    await using worker = await RawWorker.connect(engine.url);
    const seen: unknown[] = [];
    await worker.serve('watch::all', (record, { traceparent, baggage }) => {
      seen.push((record as Fields).body);
      worker.startCall('engine::log::info', { message: 'from the handler' }, { traceparent, baggage });
    });
    await bind(worker, 'watch::all', { level: 'info' });
    await log(worker, 'engine::log::info', { message: 'cause one' });
    await log(worker, 'engine::log::info', { message: 'cause two' });
    const handled = () => ask(worker, 'engine::logs::search', { query: '"from the handler"' });
    await waitFor('both handlers have logged', async () => (await handled()).total === 2);
    // The logs of the handlers are stored. A call that they fired would arrive before this answer.
    await ask(worker, 'engine::logs::list');
    expect(seen).toEqual(['cause one', 'cause two']);
  });
});

/** A log record as the SDK of a worker sends it. */
function sendLog(worker: RawWorker, text: string): void {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const logRecords = [{ severityNumber: 9, body: { stringValue: text } }];
  worker.sendBinary(
    Buffer.from(`LOGS${JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })}`),
  );
}
