// Sample data for the trace and log pages: a shop of four services, with queues, retries, errors and one large trace.

import type { LogRow } from '../../../src/console/api/telemetry.ts';
import type { SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import type { SeededRandom } from '../random/seeded-random.ts';

const NS_PER_MS = 1e6;

export const STACK = [
  'CardDeclined: card ending 4242 was declined',
  '    at charge (/app/src/billing.ts:41:11)',
  '    at Layer.handle (/app/node_modules/svc-sdk/dist/invocation.js:80:5)',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  '    at placeOrder (/app/src/orders.ts:17:3)',
  'Caused by: HttpError: 402 Payment Required',
].join('\n');

interface Step {
  readonly name: string;
  readonly service: string;
  readonly parent: number | undefined;
  /** Milliseconds from the start of the trace. */
  readonly at: readonly [number, number];
  readonly more?: Partial<SpanRecord>;
}

export function orderTrace(random: SeededRandom, startMs: number, kind: 'ok' | 'error' | 'pending'): SpanRecord[] {
  const pay = 60 + random.below(90);
  const failed: Partial<SpanRecord> = { status: 'error', status_description: 'card ending 4242 was declined' };
  const isError = kind === 'error';
  const order = `o-${random.below(900) + 100}`;
  const steps: Step[] = [
    {
      ...{ name: 'POST /orders', service: 'svc', parent: undefined, at: [0, pay + 60] },
      more: {
        attributes: [
          ['http.request.method', 'POST'],
          ['http.route', '/orders'],
          ['baggage.tenant', 'acme'],
          ['baggage.plan', 'pro'],
        ],
      },
    },
    {
      name: 'call orders::create',
      service: 'svc',
      parent: 0,
      at: [1, pay + 58],
      more: {
        attributes: [
          ['faas.invoked_name', 'orders::create'],
          ['svc.caller.worker', 'gateway'],
        ],
      },
    },
    {
      name: 'execute orders::create',
      service: 'api',
      parent: 1,
      at: [2, pay + 57],
      more: {
        attributes: [
          ['order.id', order],
          ['region', random.pick(['eu', 'us'])],
        ],
      },
    },
    { name: `state::set orders/${order}`, service: 'svc-state', parent: 2, at: [4, 10] },
    { name: 'call billing::charge', service: 'svc', parent: 2, at: [12, 12 + pay], more: isError ? failed : {} },
    {
      ...{ name: 'execute billing::charge', service: 'billing', parent: 4, at: [13, 11 + pay] },
      more: isError
        ? {
            ...failed,
            events: [
              {
                name: 'exception',
                timestamp_unix_nano: (startMs + 11 + pay) * NS_PER_MS,
                attributes: [
                  ['exception.type', 'CardDeclined'],
                  ['exception.message', 'card ending 4242 was declined'],
                  ['exception.stacktrace', STACK],
                ],
              },
            ],
          }
        : {},
    },
    {
      name: 'http POST pay.example',
      service: 'billing',
      parent: 5,
      at: [18, 6 + pay],
      more: {
        attributes: [
          ['server.address', 'pay.example'],
          ['http.response.status_code', isError ? '402' : '200'],
        ],
      },
    },
    {
      name: 'enqueue mail::send → mail',
      service: 'svc',
      parent: 2,
      at: [pay + 20, pay + 21],
      more: {
        attributes: [
          ['messaging.destination.name', 'mail'],
          ['messaging.message.id', `job-${order}`],
        ],
      },
    },
    {
      name: 'fn_queue mail',
      service: 'svc-queue',
      parent: 7,
      at: [pay + 30, pay + 36],
      more: {
        ...(kind === 'ok' ? {} : failed),
        attributes: [
          ['svc.job.attempt', '1'],
          ['messaging.operation.type', 'process'],
        ],
      },
    },
    ...(kind === 'ok'
      ? []
      : [
          {
            name: 'fn_queue mail',
            service: 'svc-queue',
            parent: 7,
            at: [pay + 50, pay + 55] as const,
            more: {
              attributes: [
                ['svc.job.attempt', '2'],
                ['messaging.operation.type', 'process'],
              ] as [string, string][],
            },
          },
        ]),
  ];
  return spansOf(random, startMs, steps, kind === 'pending');
}

function spansOf(random: SeededRandom, startMs: number, steps: readonly Step[], isPending: boolean): SpanRecord[] {
  const traceId = random.token();
  const ids = steps.map(() => random.token().slice(0, 16));
  return steps.map((step, at) => {
    const pends = isPending && (at === 0 || at === 1 || at === 2);
    return {
      trace_id: traceId,
      span_id: ids[at] ?? '',
      parent_span_id: step.parent === undefined ? null : (ids[step.parent] ?? null),
      name: step.name,
      start_time_unix_nano: (startMs + step.at[0]) * NS_PER_MS,
      end_time_unix_nano: pends ? 0 : (startMs + step.at[1]) * NS_PER_MS,
      status: 'ok',
      attributes: [],
      service_name: step.service,
      events: [],
      links: [],
      ...(pends && { pending: true }),
      ...step.more,
    };
  });
}

/** A trace of so many spans: batches of queries below imports, some failed. */
export function importTrace(random: SeededRandom, startMs: number, count: number): SpanRecord[] {
  const steps: Step[] = [{ name: 'POST /imports', service: 'svc', parent: undefined, at: [0, 4_000] }];
  const services = ['api', 'catalogue', 'search', 'svc-state'];
  let batch = 0;
  while (steps.length < count) {
    const from = (batch * 37) % 3_900;
    const head = steps.length;
    steps.push({ name: `call import::batch`, service: random.pick(services), parent: 0, at: [from, from + 90] });
    for (let row = 0; row < 24 && steps.length < count; row += 1) {
      const at = from + row * 3.5;
      const isError = random.chance(1);
      steps.push({
        ...{
          name: `SELECT product ${random.below(90_000)}`,
          service: 'db',
          parent: head,
          at: [at, at + 1 + random.below(30) / 10],
        },
        ...(isError && { more: { status: 'error', status_description: 'deadlock detected' } }),
      });
    }
    batch += 1;
  }
  return spansOf(random, startMs, steps, false);
}

const MESSAGES: readonly (readonly [severity: LogRow['severity_text'], service: string, body: string])[] = [
  ['INFO', 'api', 'order o-481 created for acme in 12 ms'],
  ['INFO', 'api', 'order o-997 created for acme in 9 ms'],
  ['DEBUG', 'svc-state', 'set orders/o-481 (1.2 KiB)'],
  ['WARN', 'billing', 'payment provider slow: 1840 ms, see https://status.pay.example/now'],
  ['ERROR', 'billing', STACK],
  ['INFO', 'svc-queue', '\u001b[32m✔\u001b[0m job \u001b[1m9f1c0f2e-5d0a-4e61-9a8e-0a6b2f6f8c11\u001b[0m done'],
  ['TRACE', 'svc', 'frame 248480010225057793 of 214 bytes'],
];
const NUMBERS: Readonly<Record<LogRow['severity_text'], number>> = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17 };

export function demoLogs(random: SeededRandom, endMs: number, count: number, spans: readonly SpanRecord[]): LogRow[] {
  return Array.from({ length: count }, (_, at) => {
    const [severity, service, body] = random.pick(MESSAGES);
    const span = spans.length > 0 && random.chance(70) ? random.pick(spans) : undefined;
    const atMs = endMs - (count - at) * (600_000 / count);
    return {
      id: `log-${at}`,
      timestamp_unix_nano: atMs * NS_PER_MS,
      observed_timestamp_unix_nano: atMs * NS_PER_MS,
      severity_number: NUMBERS[severity],
      severity_text: severity,
      body,
      attributes: {
        tenant: random.pick(['acme', 'globex']),
        attempt: random.below(3),
        'order.id': `o-${random.below(900)}`,
      },
      trace_id: span?.trace_id ?? null,
      span_id: span?.span_id ?? null,
      resource: { 'service.name': service },
      service_name: service,
      instrumentation_scope_name: 'svc-sdk',
    };
  });
}

export function demoSpans(random: SeededRandom, endMs: number, traces: number): SpanRecord[] {
  return Array.from({ length: traces }, (_, at) => {
    const kind = at === traces - 1 ? 'pending' : random.chance(18) ? 'error' : 'ok';
    return orderTrace(random, endMs - (traces - at) * (600_000 / traces), kind);
  }).flat();
}
