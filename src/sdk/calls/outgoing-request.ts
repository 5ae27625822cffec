// Turns a call as the user writes it into a checked call with its defaults, and runs it through middleware and retries
// if there are any. Without them one function does all of it.

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
  readonly function_id: string | FunctionReference<Untyped, Untyped>;
  readonly payload?: unknown;
};

export interface RequestContext {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly contexts: ContextStorage<TraceCarrier>;
  readonly middleware: MiddlewareChain;
  readonly outgoing: OutgoingCalls;
  readonly callWithRetry: typeof callWithRetry;
}

export function makeCall(request: AnyRequest, context: RequestContext): Promise<unknown> {
  let spec: CallSpec;
  try {
    spec = readRequest(request, context.settings);
  } catch (error) {
    return Promise.reject(error);
  }
  const parent = context.contexts.current();
  if (request.retry === undefined && context.middleware.isEmpty) return context.outgoing.begin(spec, parent);
  return makeCallAround(request, spec, parent, context);
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
  const { function_id, payload, metadata, action, timeout_ms, signal } = request;
  const functionId = typeof function_id === 'string' ? function_id : function_id?.id;
  if (typeof functionId !== 'string' || functionId === '') {
    const text = `trigger: function_id is ${JSON.stringify(function_id)}, expected an id`;
    throw new SvcError('INVALID_ARGUMENTS', text);
  }
  const timeoutMs =
    timeout_ms === undefined ? settings.timeoutMs : checkTimeout(`${functionId}: timeout_ms`, timeout_ms);
  return { functionId, payload, metadata, action, timeoutMs, signal };
}
