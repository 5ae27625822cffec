// The checks before a handler: global middleware, the condition, the middleware of the route (modules 5.7). Each may
// end the request. A check whose answer is malformed refuses it, because users authorise requests here.

import {
  asByteString,
  asRawJson,
  type ByteString,
  parseRawJson,
  RAW_NULL,
  type RawJson,
  rawJson,
} from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import type { Binding, Cause } from '../../../router/builtin.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { ConditionVerdict } from '../../../router/triggers/condition.ts';
import { answerToFailure, type ErrorAnswer, errorAnswer } from './error-answer.ts';
import { type HandlerAnswer, readHandlerValue } from './handler-result.ts';

export interface Checks {
  /** The request object up to its body. */
  readonly text: ByteString;
  readonly body: ByteString;
  readonly globalMiddleware: readonly string[];
  readonly routeMiddleware: readonly string[];
  /** The binding that the checks belong to, including its condition: they run with the rights of its owner. */
  readonly binding: Binding | undefined;
  readonly cause: Cause;
  /** The client disconnected in the meantime. */
  readonly isOver: () => boolean;
}

export interface ChecksCallbacks {
  /** `context`: the context that middleware made, as JSON. */
  passed(context: ByteString): void;
  answered(answer: HandlerAnswer): void;
  failed(answer: ErrorAnswer): void;
  /** The client has disconnected: nothing more is called. */
  gone(): void;
}

type Router = Pick<RouterPort, 'call' | 'checkBinding'>;
type Context = Readonly<Record<string, unknown>>;

const MIDDLEWARE_TIMEOUT_MS = 5_000;

export function runChecks(router: Router, checks: Checks, callbacks: ChecksCallbacks): void {
  // Global middleware belongs to the configuration, regardless of the owner of the route.
  runMiddleware(router, { ...checks, binding: undefined }, callbacks, checks.globalMiddleware, {}, (context) => {
    checkCondition(router, checks, callbacks, context, () => {
      runMiddleware(router, checks, callbacks, checks.routeMiddleware, context, (merged) =>
        callbacks.passed(rawJson(merged)),
      );
    });
  });
}

function runMiddleware(
  router: Router,
  checks: Checks,
  callbacks: ChecksCallbacks,
  functionIds: readonly string[],
  context: Context,
  passed: (context: Context) => void,
): void {
  if (checks.isOver()) return callbacks.gone();
  const [functionId, ...rest] = functionIds;
  if (functionId === undefined) return passed(context);
  const payload = joined('{"phase":"preHandler","request":', checks.text, '},"context":', rawJson(context), '}');
  const call = {
    functionId,
    payload: Payload.ofText(asRawJson(payload)),
    ...checks.cause,
    isFromOutside: true,
    timeoutMs: MIDDLEWARE_TIMEOUT_MS,
    binding: checks.binding,
    decides: checks.binding?.owner?.access === undefined,
  };
  router.call(call, ({ result, error }) => {
    if (checks.isOver()) return callbacks.gone();
    if (error !== undefined) return callbacks.failed(refusalOf(functionId, error.asText()));
    const verdict = readVerdict(result?.asText());
    if (verdict.kind === 'continue')
      runMiddleware(router, checks, callbacks, rest, { ...context, ...verdict.context }, passed);
    else if (verdict.kind === 'respond') callbacks.answered(verdict.answer);
    else callbacks.failed(errorAnswer('invocation_failed', `Middleware ${functionId}: ${verdict.reason}`));
  });
}

function checkCondition(
  router: Router,
  checks: Checks,
  callbacks: ChecksCallbacks,
  context: Context,
  passed: () => void,
): void {
  const { binding } = checks;
  if (binding?.conditionFunctionId === undefined) return passed();
  const text = joined(checks.text, ',"body":', checks.body, ',"context":', rawJson(context), '}');
  const decided = (verdict: ConditionVerdict): void => {
    if (checks.isOver()) return callbacks.gone();
    if (verdict === 'pass') passed();
    else if (verdict === 'skip') callbacks.failed(NOT_MET);
    else
      callbacks.failed(
        errorAnswer('invocation_failed', `Condition ${binding.conditionFunctionId} failed; the log says why`),
      );
  };
  router.checkBinding(binding, Payload.ofText(asRawJson(text)), checks.cause, decided);
}

const NOT_MET: ErrorAnswer = {
  ...errorAnswer('CONDITION_NOT_MET', 'The condition of this route was not met'),
  more: { skipped: true },
};

function refusalOf(functionId: string, error: RawJson | undefined): ErrorAnswer {
  const { code, message } = answerToFailure(parseRawJson(error ?? RAW_NULL));
  const text = `Middleware ${functionId}: ${message}`;
  return code === 'TIMEOUT' ? errorAnswer('TIMEOUT', text) : { status: 500, code, message: text };
}

type Verdict =
  | { readonly kind: 'continue'; readonly context: Context }
  | { readonly kind: 'respond'; readonly answer: HandlerAnswer }
  | { readonly kind: 'malformed'; readonly reason: string };

function readVerdict(text: RawJson | undefined): Verdict {
  const result = text === undefined ? undefined : parseRawJson(text);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    return { kind: 'malformed', reason: 'its result is not an object with an action' };
  }
  const { action, context, response }: { action?: unknown; context?: unknown; response?: unknown } = result;
  if (action === 'continue') {
    if (context === undefined || context === null) return { kind: 'continue', context: {} };
    if (typeof context === 'object' && !Array.isArray(context)) return { kind: 'continue', context: { ...context } };
    return { kind: 'malformed', reason: 'its context is not an object' };
  }
  if (action !== 'respond') return { kind: 'malformed', reason: "its action is neither 'continue' nor 'respond'" };
  const read = readHandlerValue(response, false);
  return read.ok
    ? { kind: 'respond', answer: read.answer }
    : { kind: 'malformed', reason: `its response is invalid: ${read.reason}` };
}

/** JSON text from pieces, without building the value first. */
function joined(...parts: readonly string[]): ByteString {
  return asByteString(parts.join(''));
}
