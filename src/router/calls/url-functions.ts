// Functions that are a URL: the engine sends the payload there and answers with the response (wire 3.5).
//
// Neighbours: `url-invocation.ts` reads the registration, `effects/outgoing.ts` sends under the rules X16 to X18. The
// call is entered in the call table like any other, so that its deadline, the drain and late answers are no special
// case.

import { createHmac } from 'node:crypto';
import { withDepth } from '../../core/calls/call-depth.ts';
import { Refusal, unreadablePayload } from '../../core/calls/refusal.ts';
import { type OutgoingAnswer, OutgoingError } from '../../effects/outgoing.ts';
import { isErrorBody } from '../../generated/worker-frames.ts';
import type { ErrorCode } from '../../protocol/frames/errors.ts';
import { RAW_NULL, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { type Begun, contextOf, endRefused, spanOf } from '../session/observe.ts';
import { type Outcome, outcomeOf, outcomeOfError } from './call.ts';
import { answer, isCausedByRestricted, openCall, settle } from './in-flight.ts';
import type { UrlFunction } from './url-invocation.ts';

/** Concurrent requests of one function, and the bytes of an answer (PD-40). */
const IN_FLIGHT_MAX = 256;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export function callUrl(context: RouterContext, target: UrlFunction, request: CallRequest, begun: Begun): void {
  const body = bodyOf(request);
  const ofRestricted = isCausedByRestricted(request);
  const refusal =
    body === undefined
      ? unreadablePayload(`the payload for ${request.functionId}`, request.data)
      : inFlightRefusal(target, request);
  if (body === undefined || refusal !== undefined) {
    if (request.caller === undefined) context.counters.count('invocations.void_dropped', refusal?.code);
    else if (refusal !== undefined) answer(request.caller, request.ref, request.functionId, outcomeOf(refusal));
    if (refusal !== undefined) endRefused(context.observer, request.functionId, spanOf(begun), refusal);
    return;
  }
  const timeoutMs = Math.min(request.timeoutMs, target.timeoutMs);
  const { id } = openCall(
    context,
    request.functionId,
    context.moduleExecutor,
    { ...request, timeoutMs },
    spanOf(begun),
  );
  target.inFlight++;
  if (ofRestricted) target.restrictedInFlight++;
  context.outgoing
    .send({
      url: target.url,
      method: target.method,
      headers: headersFor(context, target, { ...request, traceparent: contextOf(begun, request.traceparent) }, body),
      body,
      timeoutMs,
      answerBytesMax: ANSWER_BYTES_MAX,
    })
    .then(outcomeOfAnswer, (error: unknown) => outcomeOfFailure(context, request.functionId, error))
    .then((outcome) => {
      target.inFlight--;
      if (ofRestricted) target.restrictedInFlight--;
      const call = context.calls.find(id, context.moduleExecutor);
      if (call === undefined) context.counters.count('invocations.late_results');
      else settle(context, call, outcome);
    });
}

function inFlightRefusal(target: UrlFunction, request: CallRequest): Refusal | undefined {
  const { functionId } = request;
  if (target.inFlight >= IN_FLIGHT_MAX) {
    return new Refusal('OVERLOADED', `${functionId} is at its limit of ${IN_FLIGHT_MAX} concurrent requests`);
  }
  if (!isCausedByRestricted(request) || 2 * target.restrictedInFlight < IN_FLIGHT_MAX) return undefined;
  const share = `half of the ${IN_FLIGHT_MAX} concurrent requests of ${functionId}`;
  return new Refusal('OVERLOADED', `Restricted ports have ${share}; the others are for trusted callers`);
}

/** A copy: the payload's bytes are invalid after the frame was handled, and the request may be sent later. */
function bodyOf({ data }: CallRequest): Buffer | undefined {
  const text = data === undefined ? RAW_NULL : data.asText();
  return text === undefined ? undefined : Buffer.from(text, 'latin1');
}

function headersFor(
  context: RouterContext,
  { headers, hmacSecret }: UrlFunction,
  { functionId, traceparent, depth }: CallRequest,
  body: Buffer,
): Record<string, string> {
  const prefix = context.settings.isDropIn ? 'x-iii' : 'x-svc';
  const timestamp = String(Math.floor(context.clock.nowMs() / 1_000));
  const signature =
    hmacSecret === undefined
      ? undefined
      : createHmac('sha256', hmacSecret)
          .update(`${timestamp}:${body.toString('base64')}`)
          .digest('hex');
  return {
    'content-type': 'application/json',
    // Work caused by a chain of calls carries the length of the chain, in case it returns to an engine (I8). The
    // user's own entries are not sent: the server may belong to a third party.
    baggage: withDepth(undefined, depth + 1),
    ...(traceparent !== undefined && { traceparent }),
    [`${prefix}-function-path`]: encodeURI(functionId),
    [`${prefix}-invocation-id`]: context.random.uuid(),
    [`${prefix}-timestamp`]: timestamp,
    ...headers,
    ...(signature !== undefined && { [`${prefix}-signature`]: `sha256=${signature}` }),
  };
}

function outcomeOfAnswer({ status, body }: OutgoingAnswer): Outcome {
  const payload = Payload.ofBytes(body, 0, body.length);
  const text = body.length === 0 ? undefined : payload.asText();
  if (status >= 400) return outcomeOfHttpError(status, body);
  if (text !== undefined) return { result: Payload.ofText(text) };
  const isFault = status >= 200 && status < 300 && body.length > 0;
  return isFault ? failed('invalid_response', 'The server answered with something that is not JSON') : {};
}

/** `{"error": {"code", "message"}}` of the server is the function's own error. */
function outcomeOfHttpError(status: number, body: Buffer): Outcome {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    parsed = undefined;
  }
  const error: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'error') : undefined;
  return isErrorBody(error) ? { error: Payload.ofText(rawJson(error)) } : failed('http_error', `HTTP ${status}`);
}

function outcomeOfFailure(context: RouterContext, functionId: string, error: unknown): Outcome {
  if (!(error instanceof OutgoingError)) {
    context.logger.error('A request of the engine failed', { function_id: functionId, error: String(error) });
    return failed('http_request_failed', `The request of ${functionId} failed inside the engine; its log says why`);
  }
  context.logger.warn('A request was not answered', { function_id: functionId, reason: error.message });
  switch (error.failure) {
    case 'refused':
      return failed('url_validation_failed', `The URL of ${functionId} is refused: ${error.message}`);
    case 'timeout':
      return failed('TIMEOUT', `The URL of ${functionId} gave ${error.message}`);
    case 'too_large':
      return failed('RESULT_TOO_LARGE', `${functionId}: ${error.message}`);
    case 'unreachable':
      return failed('http_request_failed', `${functionId}: ${error.message}`);
  }
}

function failed(code: ErrorCode, message: string): Outcome {
  return outcomeOfError({ code, message });
}
