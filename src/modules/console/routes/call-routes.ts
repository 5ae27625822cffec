// Calls that a user makes by hand: invoke, fire a trigger, emit an event (API-3).

import { INVOKE_HEADERS } from '../../../console/api/envelope.ts';
import type { InvokeRequest } from '../../../console/api/registry.ts';
import { validateEmit, validateFire, validateInvoke } from '../../../generated/console-requests.ts';
import { CALL_TIMEOUT_MS_DEFAULT, CALL_TIMEOUT_MS_MAX } from '../../../protocol/frames/limits.ts';
import { parseRawJson, RAW_NULL, type RawJson } from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import type { Outcome } from '../../../router/calls/call.ts';
import type { LocalCall } from '../../../router/calls/call-locally.ts';
import type { ConsoleContext } from '../console-context.ts';
import { ApiFailure, failure, failureOfBody } from '../sources/failure.ts';
import { objectText, RawAnswer } from '../sources/json-text.ts';
import { type Route, sending } from './route.ts';

/** What handlers and traces see as the cause (API-3). */
const ORIGIN = { type: 'console', id: 'console' };

export function callRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns } = context;
  return [
    sending('POST /invoke', validateInvoke, ({ body, raw, headers }) =>
      invoke(context, body, raw('payload') ?? raw('input') ?? RAW_NULL, baggageIn(headers)),
    ),
    sending('POST /triggers/{id}/fire', validateFire, async ({ name, raw }) => {
      const payload = raw('payload');
      const asked = objectText({ id: name(0) }, payload === undefined ? {} : { payload });
      const fired = await builtIns.askOfText('engine::triggers::fire', asked);
      const { id, trigger_type, function_id } = fired;
      return { id, trigger_type, function_id, payload: fired.payload ?? null, trace_id: null };
    }),
    sending('POST /events/emit', validateEmit, async ({ body, raw }) => {
      const asked = objectText({ topic: body.name }, { data: raw('payload') ?? RAW_NULL });
      const { triggers } = await builtIns.askOfText('engine::events::emit', asked);
      return {
        name: body.name,
        fired: triggers.map(({ id, function_id }) => ({ trigger_id: id, function_id, trace_id: null })),
      };
    }),
  ];
}

function invoke(
  context: ConsoleContext,
  body: InvokeRequest,
  payload: RawJson,
  baggage: string | undefined,
): Promise<RawAnswer> {
  const { router, clock, random } = context.module;
  const { function_id: functionId, action, timeout_ms: timeoutMs = CALL_TIMEOUT_MS_DEFAULT } = body;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > CALL_TIMEOUT_MS_MAX) {
    const text = `timeout_ms must be a whole number from 1 to ${CALL_TIMEOUT_MS_MAX}, found ${timeoutMs}`;
    throw failure('BAD_REQUEST', text);
  }
  const traceId = random.uuid().replaceAll('-', '');
  const startedMs = clock.monotonicMs();
  let worker: string | undefined;
  const call: LocalCall = {
    functionId,
    payload: Payload.ofText(payload),
    // Always sampled: a user who calls by hand wants to see what happened.
    traceparent: `00-${traceId}-${random.uuid().replaceAll('-', '').slice(0, 16)}-01`,
    baggage,
    depth: 0,
    timeoutMs,
    trigger: ORIGIN,
    handed: (name) => {
      worker = name;
    },
  };
  return new Promise((resolve, reject) => {
    const done = ({ result, error }: Outcome): void => {
      const headers = [INVOKE_HEADERS.traceId, traceId, INVOKE_HEADERS.durationMs, durationOf(clock, startedMs)];
      if (worker !== undefined) headers.push(INVOKE_HEADERS.worker, encodeURIComponent(worker));
      if (error === undefined) return resolve(new RawAnswer(result?.asText() ?? RAW_NULL, { headers }));
      const failed = failureOfBody(parseRawJson(error.asText() ?? RAW_NULL));
      reject(new ApiFailure(failed.status, failed.error, headers));
    };
    if (action === undefined) router.call(call, done);
    else router.deliver(call, action, done);
  });
}

/** The `baggage` header, which names the server that admitted the user. Spans show it (API-3). */
function baggageIn(headers: readonly string[]): string | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'baggage');
  return at < 0 ? undefined : headers[at + 1];
}

function durationOf(clock: ConsoleContext['module']['clock'], startedMs: number): string {
  return (clock.monotonicMs() - startedMs).toFixed(2);
}
