// Workers register and withdraw functions. Nothing is answered on success; a refusal is told.

import type { FunctionFacts } from '../core/function-table.ts';
import { asRawJson, detach, type RawJson } from '../protocol/byte-string.ts';
import type { RegisterFunction, UnregisterFunction } from '../protocol/frames.ts';
import { idOffence } from '../protocol/ids.ts';
import { REGISTRATION_BYTES_MAX } from '../protocol/limits.ts';
import type { RouterContext } from './context.ts';
import type { Session } from './session.ts';

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
  if (outcome.isNew) context.announce.functionsChanged();
}

export function handleUnregisterFunction(context: RouterContext, session: Session, frame: UnregisterFunction): void {
  if (!session.functions.delete(frame.id)) return;
  if (context.functions.unregister(frame.id, session)) context.announce.functionsChanged();
}

function register(
  context: RouterContext,
  session: Session,
  id: string,
  frame: RegisterFunction<RawJson>,
): { ok: true; isNew: boolean } | { ok: false; reason: string } {
  const offence = idOffence(id);
  if (offence !== undefined) return { ok: false, reason: `The function id ${offence}` };
  if (id.startsWith('engine::')) return { ok: false, reason: `Ids that begin with 'engine::' belong to the engine` };
  const bytes = sizeOf(frame.description, frame.request_format, frame.response_format, frame.metadata);
  if (bytes > REGISTRATION_BYTES_MAX) {
    const reason = `Description, schemas and metadata take ${bytes} bytes, over the limit of ${REGISTRATION_BYTES_MAX}`;
    return { ok: false, reason };
  }
  if (frame.invocation !== undefined) {
    return { ok: false, reason: 'Functions that call an HTTP endpoint are not in this version of svc' };
  }
  if (session.functions.size >= session.limits.functionsPerWorker && !session.functions.has(id)) {
    const reason = `This connection is at its limit of ${session.limits.functionsPerWorker} functions`;
    return { ok: false, reason };
  }
  return context.functions.register(id, session, factsOf(frame));
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

/** Clients before 0.23 ignore the frame, so the log line matters too. */
function rejectFunction(context: RouterContext, session: Session, id: string, reason: string): void {
  context.counters.count('registrations.rejected');
  context.logger.warn('Function registration refused', { worker: session.displayName, function_id: id, reason });
  session.send({
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'default',
    owner_worker_id: '',
    function_id: id,
    message: reason,
  });
}
