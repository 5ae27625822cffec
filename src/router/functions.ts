// Workers register and withdraw functions. Nothing is answered on success; a refusal is told.

import type { FunctionFacts } from '../core/function-table.ts';
import { asRawJson, detach, parseRawJson, type RawJson } from '../protocol/byte-string.ts';
import type { RegisterFunction, UnregisterFunction } from '../protocol/frames.ts';
import { idOffence } from '../protocol/ids.ts';
import { REGISTRATION_BYTES_MAX } from '../protocol/limits.ts';
import type { RouterContext } from './context.ts';
import { noteWorker } from './observe.ts';
import type { Session } from './session.ts';
import { type ReadUrlFunction, readUrlFunction, type UrlFunction } from './url-invocation.ts';

export function handleRegisterFunction(
  context: RouterContext,
  session: Session,
  frame: RegisterFunction<RawJson>,
): void {
  const id = detach(frame.id);
  const outcome = register(context, session, id, frame);
  if (!outcome.ok) {
    rejectFunction(context, session, id, outcome.reason);
    return;
  }
  session.functions.add(id);
  noteWorker(context, session);
  if (outcome.url === undefined) session.urlFunctions.delete(id);
  else session.urlFunctions.set(id, outcome.url);
  if (outcome.isNew) context.announce.functionsChanged();
}

export function handleUnregisterFunction(context: RouterContext, session: Session, frame: UnregisterFunction): void {
  if (!session.functions.delete(frame.id)) return;
  session.urlFunctions.delete(frame.id);
  if (context.functions.unregister(frame.id, session)) context.announce.functionsChanged();
}

function register(
  context: RouterContext,
  session: Session,
  id: string,
  frame: RegisterFunction<RawJson>,
): { ok: true; isNew: boolean; url: UrlFunction | undefined } | { ok: false; reason: string } {
  const offence = idOffence(id);
  if (offence !== undefined) return { ok: false, reason: `The function id ${offence}` };
  if (id.startsWith('engine::')) return { ok: false, reason: `Ids that begin with 'engine::' belong to the engine` };
  const bytes = sizeOf(
    frame.description,
    frame.request_format,
    frame.response_format,
    frame.metadata,
    frame.invocation,
  );
  if (bytes > REGISTRATION_BYTES_MAX) {
    const what = 'Description, schemas, metadata and invocation';
    const reason = `${what} take ${bytes} bytes, over the limit of ${REGISTRATION_BYTES_MAX}`;
    return { ok: false, reason };
  }
  const url = frame.invocation === undefined ? undefined : urlFunction(context, session, frame.invocation);
  if (url?.ok === false) return url;
  if (session.functions.size >= session.limits.functionsPerWorker && !session.functions.has(id)) {
    const reason = `This connection is at its limit of ${session.limits.functionsPerWorker} functions`;
    return { ok: false, reason };
  }
  if (session.access === undefined) takeFromStrangers(context, id);
  const outcome = context.functions.register(id, session, factsOf(frame));
  return outcome.ok ? { ...outcome, url: url?.value } : outcome;
}

/** A function behind a URL reads secrets of the engine's environment: no business of strangers. */
function urlFunction(context: RouterContext, session: Session, invocation: RawJson): ReadUrlFunction {
  if (session.access !== undefined) {
    return { ok: false, reason: 'Only trusted workers may register functions that are a URL' };
  }
  const read = readUrlFunction(parseRawJson(invocation), context.environment);
  const refusal = read.ok ? context.outgoing.refusal(read.value.url) : undefined;
  return refusal === undefined ? read : { ok: false, reason: `invocation.url is refused: ${refusal}` };
}

/** A trusted worker shares its functions with nobody from a restricted port: calls of others would run there (X9). */
function takeFromStrangers(context: RouterContext, id: string): void {
  const entry = context.functions.get(id);
  if (entry?.kind !== 'worker') return;
  for (const stranger of entry.executors.filter(({ access }) => access !== undefined)) {
    stranger.functions.delete(id);
    context.functions.unregister(id, stranger);
    rejectFunction(context, stranger, id, 'A trusted worker offers this function from now on');
  }
}

/** What a registration would keep in memory for its life. */
export function sizeOf(...parts: readonly (string | undefined)[]): number {
  return parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
}

/** Kept as long as the registration, so cut loose from the frame they came in. */
function factsOf(frame: RegisterFunction<RawJson>): FunctionFacts {
  return {
    description: frame.description === undefined ? undefined : detach(frame.description),
    requestFormat: detachRaw(frame.request_format),
    responseFormat: detachRaw(frame.response_format),
    metadata: detachRaw(frame.metadata),
  };
}

export function detachRaw(raw: RawJson): RawJson;
export function detachRaw(raw: RawJson | undefined): RawJson | undefined;
export function detachRaw(raw: RawJson | undefined): RawJson | undefined {
  return raw === undefined ? undefined : asRawJson(detach(raw));
}

/**
 * Clients before 0.23 ignore the frame, so the log line matters too. Those of 0.23 end their connection for good at any
 * other code: only our own SDK is told more (wire 2.3).
 */
export function rejectFunction(
  context: RouterContext,
  session: Session,
  id: string,
  reason: string,
  code = FUNCTION_REFUSED,
): void {
  context.counters.count('registrations.rejected');
  context.logger.warn('Function registration refused', { worker: session.displayName, function_id: id, reason });
  session.send({
    type: 'registrationrejected',
    code: session.isOwnSdk ? code : FUNCTION_REFUSED,
    namespace: 'default',
    owner_worker_id: '',
    function_id: id,
    message: reason,
  });
}

const FUNCTION_REFUSED = 'FUNCTION_NAMESPACE_CONFLICT';
