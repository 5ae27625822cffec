import { expect, test } from 'vitest';
import { listRuns, type RunsQuery } from '../../../../../src/core/telemetry/spans/runs.ts';
import { SpanStore } from '../../../../../src/core/telemetry/spans/span-store.ts';
import { START_NANO, spanRecord, TRACE_ID } from '../../../../support/telemetry/telemetry-records.ts';

const START_MS = START_NANO / 1e6;
const ALL: RunsQuery = {
  ...{ functionId: 'mail::send', status: undefined, startTime: undefined, endTime: undefined, offset: 0, limit: 100 },
};

function storeOf(...spans: Parameters<typeof spanRecord>[0][]): SpanStore {
  const store = new SpanStore({ maxCount: 1_000, maxBytes: 1e8 }, () => {});
  for (const span of spans) store.add(spanRecord(span), START_MS);
  return store;
}

const at = (ms: number, parts: Parameters<typeof spanRecord>[0] = {}) => ({
  name: 'call mail::send',
  start_time_unix_nano: START_NANO + ms * 1e6,
  end_time_unix_nano: START_NANO + (ms + 5) * 1e6,
  ...parts,
});

test('[FUN-8] A run is the call and not its trace: how it was caused, where it ran, how it ended', () => {
  const job: [string, string][] = [
    ['messaging.destination.name', 'mail'],
    ['messaging.message.id', 'r-1'],
    ['svc.job.attempt', '2'],
  ];
  const store = storeOf(
    { span_id: 'job', name: 'fn_queue mail', attributes: job },
    at(1, {
      ...{ span_id: 'run', parent_span_id: 'job', status: 'error', status_description: 'FATAL: no such customer' },
      attributes: [
        ['svc.worker', 'post office'],
        ['svc.input.bytes', '17'],
      ],
    }),
    at(2, { span_id: 'inner', parent_span_id: 'run', name: 'execute mail::send' }),
  );
  expect(listRuns(store, ALL, START_MS, ({ span_id: id }) => id === 'run')).toEqual({
    total: 1,
    runs: [
      {
        ...{
          trace_id: TRACE_ID,
          span_id: 'run',
          started_ms: START_MS + 1,
          duration_ms: expect.closeTo(5, 2),
          status: 'error',
        },
        ...{ error: 'FATAL: no such customer', trigger: 'queue', worker: 'post office' },
        ...{ queue: 'mail', job_id: 'r-1', attempt: 2, input_bytes: 17, output_bytes: null, has_payload: true },
      },
    ],
  });
});

test('[FUN-8] Runs are listed newest first, by page, by errors and by time', () => {
  const store = storeOf(
    ...[1, 2, 3, 4].map((ms) =>
      at(ms * 100, { trace_id: `t${ms}`, span_id: `s${ms}`, status: ms === 2 ? 'error' : 'ok' }),
    ),
  );
  const ids = (query: Partial<RunsQuery>) =>
    listRuns(store, { ...ALL, ...query }, START_MS, () => false).runs.map(({ span_id }) => span_id);
  expect(ids({})).toEqual(['s4', 's3', 's2', 's1']);
  expect(ids({ offset: 1, limit: 2 })).toEqual(['s3', 's2']);
  expect(ids({ status: 'error' })).toEqual(['s2']);
  expect(ids({ startTime: START_MS + 250, endTime: START_MS + 350 })).toEqual(['s3']);
  expect(ids({ functionId: 'mail::other' })).toEqual([]);
});
