import { describe, expect, test } from 'vitest';
import { toChromeTrace, toOtlpJson } from '../../../../../src/core/telemetry/spans/trace-export.ts';
import { START_NANO, spanRecord, TRACE_ID } from '../../../../support/telemetry/telemetry-records.ts';

const NOW_NANO = START_NANO + 1_000 * 1e6;

describe('a trace as a file', () => {
  test('[TRC-19] OTLP JSON has ids in hex, whole nanoseconds as text, and spans by service and scope', () => {
    const spans = [
      spanRecord({ status: 'error', status_description: 'declined', attributes: [['a', 'b']] }),
      spanRecord({ span_id: '1111111111111111', parent_span_id: '00f067aa0ba902b7', service_name: 'billing' }),
    ];
    expect(toOtlpJson(spans)).toMatchObject({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'orders' } }] },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: TRACE_ID,
                  spanId: '00f067aa0ba902b7',
                  startTimeUnixNano: '1767323045000000000',
                  endTimeUnixNano: '1767323045012000000',
                  attributes: [{ key: 'a', value: { stringValue: 'b' } }],
                  status: { code: 2, message: 'declined' },
                },
              ],
            },
          ],
        },
        { scopeSpans: [{ spans: [{ parentSpanId: '00f067aa0ba902b7', status: { code: 1 } }] }] },
      ],
    });
  });

  test('[TRC-19] Chrome events have microseconds, a process per service, and a row per overlap', () => {
    const at = (span_id: string, fromMs: number, toMs: number) =>
      spanRecord({
        span_id,
        name: span_id,
        start_time_unix_nano: START_NANO + fromMs * 1e6,
        end_time_unix_nano: START_NANO + toMs * 1e6,
      });
    const trace = toChromeTrace(
      [at('outer', 0, 10), at('inner', 1, 5), at('crossing', 4, 12), at('later', 11, 12)],
      NOW_NANO,
    );
    expect(trace).toMatchObject({
      traceEvents: [
        { ph: 'M', name: 'process_name', pid: 1, args: { name: 'orders' } },
        { ph: 'X', name: 'outer', ts: START_NANO / 1_000, dur: 10_000, pid: 1, tid: 1 },
        { name: 'inner', dur: 4_000, tid: 1 },
        { name: 'crossing', dur: 8_000, tid: 2 },
        { name: 'later', tid: 1 },
      ],
    });
  });
});
