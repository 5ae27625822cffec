// Trace files, as they are dropped on the page.

import { expect, test } from 'vitest';
import { readTraceFile } from '../../../../../../src/console/web/pages/traces/logic/trace-file.ts';

const OTLP = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'billing' } }] },
      scopeSpans: [
        {
          scope: { name: 'svc-sdk', version: '0.1.0' },
          spans: [
            {
              traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
              spanId: '00f067aa0ba902b7',
              parentSpanId: '',
              name: 'call billing::charge',
              startTimeUnixNano: '1000000000',
              endTimeUnixNano: '1121000000',
              attributes: [
                { key: 'attempt', value: { intValue: '2' } },
                { key: 'queued', value: { boolValue: false } },
              ],
              events: [{ name: 'exception', timeUnixNano: '1120000000', attributes: [] }],
              status: { code: 2, message: 'card declined' },
            },
          ],
        },
      ],
    },
  ],
};

test('[TRC-19] OTLP JSON is read with service, attributes, events and status', () => {
  expect(readTraceFile(JSON.stringify(OTLP))).toEqual([
    {
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      span_id: '00f067aa0ba902b7',
      parent_span_id: null,
      name: 'call billing::charge',
      start_time_unix_nano: 1_000_000_000,
      end_time_unix_nano: 1_121_000_000,
      status: 'error',
      status_description: 'card declined',
      attributes: [
        ['attempt', '2'],
        ['queued', 'false'],
      ],
      service_name: 'billing',
      events: [{ name: 'exception', timestamp_unix_nano: 1_120_000_000, attributes: [] }],
      links: [],
      instrumentation_scope_name: 'svc-sdk',
      instrumentation_scope_version: '0.1.0',
    },
  ]);
});

test('[TRC-19] Chrome events of other tools are nested by time within their thread', () => {
  const traceEvents = [
    { ph: 'M', name: 'process_name', pid: 1, args: { name: 'renderer' } },
    { ph: 'X', name: 'outer', pid: 1, tid: 1, ts: 0, dur: 100 },
    { ph: 'X', name: 'inner', pid: 1, tid: 1, ts: 10, dur: 50, args: { url: '/x' } },
    { ph: 'X', name: 'parallel', pid: 1, tid: 2, ts: 10, dur: 50 },
    { ph: 'X', name: 'after', pid: 1, tid: 1, ts: 200, dur: 1 },
  ];
  const spans = readTraceFile(JSON.stringify({ traceEvents }));
  const idOf = new Map(spans.map((span) => [span.span_id, span.name]));
  expect(spans.map((span) => [span.name, idOf.get(span.parent_span_id ?? '') ?? null])).toEqual([
    ['outer', null],
    ['inner', 'outer'],
    ['parallel', null],
    ['after', null],
  ]);
  expect(spans[1]).toMatchObject({ service_name: 'renderer', attributes: [['url', '/x']], end_time_unix_nano: 60_000 });
});

test('[TRC-19] Chrome events that name their parents keep them', () => {
  const spans = readTraceFile(
    JSON.stringify([
      { ph: 'X', name: 'a', pid: 1, tid: 1, ts: 0, dur: 9, args: { trace_id: 't', span_id: '1' } },
      {
        ph: 'X',
        name: 'b',
        cat: 'error',
        pid: 2,
        tid: 7,
        ts: 20,
        dur: 9,
        args: { trace_id: 't', span_id: '2', parent_span_id: '1', error: 'no funds', region: 'eu' },
      },
    ]),
  );
  expect(spans[1]).toMatchObject({
    parent_span_id: '1',
    status: 'error',
    status_description: 'no funds',
    service_name: 'process 2',
    attributes: [['region', 'eu']],
  });
});

test.each([
  ['not json', 'x{', /not JSON/],
  ['another document', '{"a":1}', /resourceSpans.*traceEvents/],
  ['no spans', '{"resourceSpans":[]}', /no span/],
  ['hostile shapes', '{"resourceSpans":[null,1,{"scopeSpans":"x"}]}', /no span/],
])('[TRC-19] %s is refused with the reason', (_what, text, reason) => {
  expect(() => readTraceFile(text)).toThrow(reason);
});

test('[TRC-19] A file of several traces is refused with their number', () => {
  const two = structuredClone(OTLP);
  const spans = two.resourceSpans[0]?.scopeSpans[0]?.spans;
  const [first] = spans ?? [];
  if (first !== undefined) spans?.push({ ...first, traceId: 'b'.repeat(32) });
  expect(() => readTraceFile(JSON.stringify(two))).toThrow(/2 traces/);
});
