// Turns a call as the user writes it into a checked call with its defaults, and runs it through middleware and retries
// if there are any. Without them one function does all of it.

import { isRecord } from '../../protocol/json/record.ts';
import type { FunctionReference } from '../functions/functions.ts';
import type { MiddlewareChain } from '../worker/handler.ts';
import { checkTimeout, type Settings } from '../worker/options.ts';
import type { ContextStorage, Platform } from '../worker/platform.ts';
import type { Action } from './actions.ts';
import type { CallOptions, Untyped } from './call-types.ts';
import { SvcError } from './errors.ts';
import type { CallSpec, OutgoingCalls } from './outgoing-calls.ts';
import type { callWithRetry } from './retry.ts';
import type { TraceCarrier } from './trace-context.ts';

/** `trigger` without its types, which only the compiler needs. */
export type AnyRequest = CallOptions<Action | undefined> & {
  readonly function_id?: AnyTarget | undefined;
  readonly functionId?: AnyTarget | undefined;
  readonly payload?: unknown;
};

export type AnyTarget = string | FunctionReference<Untyped, Untyped>;

/** A request, or its target with its payload and the other options. */
export type AnyCall = readonly [
  target: AnyRequest | AnyTarget,
  payload?: unknown,
  options?: CallOptions<Action | undefined>,
];

export interface RequestContext {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly contexts: ContextStorage<TraceCarrier>;
  readonly middleware: MiddlewareChain;
  readonly outgoing: OutgoingCalls;
  readonly callWithRetry: typeof callWithRetry;
}

export function makeCall([target, payload, options]: AnyCall, context: RequestContext): Promise<unknown> {
  const request = isTarget(target) ? { ...options, function_id: target, payload } : target;
  let spec: CallSpec;
  try {
    spec = readRequest(request, context.settings);
  } catch (error) {
    return Promise.reject(error);
  }
  const parent = context.contexts.current();
  const called =
    request.retry === undefined && context.middleware.isEmpty
      ? context.outgoing.begin(spec, parent)
      : makeCallAround(request, spec, parent, context);
  return spec.action?.type === 'enqueue' ? called.then(withReceiptId) : called;
}

/** Anything else is a request, so that a mistake is reported as one of a request. */
function isTarget(value: AnyRequest | AnyTarget): value is AnyTarget {
  return typeof value === 'string' || (isRecord(value) && 'id' in value);
}

/** The engine answers with the longer name. */
function withReceiptId(receipt: unknown): unknown {
  return isRecord(receipt) ? { ...receipt, receiptId: receipt.messageReceiptId } : receipt;
}

function makeCallAround(
  { retry }: AnyRequest,
  spec: CallSpec,
  parent: TraceCarrier | undefined,
  { platform, middleware, outgoing, callWithRetry }: RequestContext,
): Promise<unknown> {
  const send = (changed: CallSpec): Promise<unknown> =>
    retry === undefined
      ? outgoing.begin(changed, parent)
      : callWithRetry(platform, retry, changed, (timeoutMs) => outgoing.begin({ ...changed, timeoutMs }, parent));
  if (middleware.isEmpty) return send(spec);
  const { functionId, action, payload, metadata } = spec;
  return middleware.run({ direction: 'outgoing', function_id: functionId, action, payload, metadata }, (call) =>
    send({ ...spec, payload: call.payload, metadata: call.metadata }),
  );
}

function readRequest(request: AnyRequest, settings: Settings): CallSpec {
  const { payload, metadata, action, signal } = request;
  const target = request.function_id ?? request.functionId;
  const timeout = request.timeout_ms ?? request.timeoutMs;
  const functionId = typeof target === 'string' ? target : target?.id;
  if (typeof functionId !== 'string' || functionId === '') {
    const text = `trigger: function_id is ${JSON.stringify(target)}, expected an id`;
    throw new SvcError('INVALID_ARGUMENTS', text);
  }
  const timeoutMs = timeout === undefined ? settings.timeoutMs : checkTimeout(`${functionId}: timeout_ms`, timeout);
  return { functionId, payload, metadata, action, timeoutMs, signal };
}
