// A call as users write it becomes a call as it is made: checked, with its defaults, through middleware and retries
// when there are any. Without them the way is one function long.

import type { Action } from './actions.ts';
import type { CallOptions } from './call-options.ts';
import { SvcError } from './errors.ts';
import type { Features } from './features.ts';
import type { FunctionReference } from './functions.ts';
import type { MiddlewareChain } from './middleware.ts';
import { checkTimeout, type Settings } from './options.ts';
import type { CallSpec, OutgoingCalls, TraceCarrier } from './outgoing-calls.ts';
import type { ContextStorage, Platform } from './platform.ts';
import type { Untyped } from './target.ts';

/** `trigger` without its types, which are the compiler's business alone. */
export type AnyRequest = CallOptions<Action | undefined> & {
  readonly function_id: string | FunctionReference<Untyped, Untyped>;
  readonly payload?: unknown;
};

export interface RequestParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly contexts: ContextStorage<TraceCarrier>;
  readonly middleware: MiddlewareChain;
  readonly outgoing: OutgoingCalls;
  readonly callWithRetry: Features['callWithRetry'];
}

export function makeCall(request: AnyRequest, parts: RequestParts): Promise<unknown> {
  let spec: CallSpec;
  try {
    spec = readRequest(request, parts.settings);
  } catch (error) {
    return Promise.reject(error);
  }
  const parent = parts.contexts.current();
  if (request.retry === undefined && parts.middleware.isEmpty) return parts.outgoing.begin(spec, parent);
  return makeCallAround(request, spec, parent, parts);
}

function makeCallAround(
  { retry }: AnyRequest,
  spec: CallSpec,
  parent: TraceCarrier | undefined,
  { platform, middleware, outgoing, callWithRetry }: RequestParts,
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
