// Workers register and withdraw functions. Success has no answer; a refusal is answered. A name that a trusted
// connection uses is reserved: no restricted connection may take it, even while its worker is away.

import { type Access, coversId } from '../../core/access/access.ts';
import type { ReservedKind } from '../../core/access/reservations.ts';
import { isProvisional } from '../../core/cluster/provisional-order.ts';
import type { FunctionSpec, RemoteOffer, Trust } from '../../core/registry/function-table.ts';
import type { RegisterFunction, UnregisterFunction } from '../../protocol/frames/frames.ts';
import { idOffence, REGISTRATION_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { asRawJson, detach, parseRawJson, type RawJson } from '../../protocol/json/byte-string.ts';
import { type ReadUrlFunction, readUrlFunction, type UrlFunction } from '../calls/url-invocation.ts';
import type { RouterContext } from '../context.ts';
import { trustRank } from '../remote/offers.ts';
import type { RemoteEngine } from '../remote/remote-engine.ts';
import { noteWorker } from '../session/observe.ts';
import type { Session } from '../session/session.ts';
import { beginProof } from './unproven.ts';

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
  if (outcome.isNew || outcome.isTrustedMore) context.announce.functionsChanged();
}

export function handleUnregisterFunction(context: RouterContext, session: Session, frame: UnregisterFunction): void {
  if (!session.functions.delete(frame.id)) return;
  session.urlFunctions.delete(frame.id);
  if (context.functions.unregister(frame.id, session)) context.announce.functionsChanged();
}

interface Registered {
  readonly ok: true;
  readonly isNew: boolean;
  /** Those who offered the function before were trusted less. */
  readonly isTrustedMore: boolean;
  readonly url: UrlFunction | undefined;
}

function register(
  context: RouterContext,
  session: Session,
  id: string,
  frame: RegisterFunction<RawJson>,
): Registered | { ok: false; reason: string } {
  const offence = idOffence(id);
  if (offence !== undefined) return { ok: false, reason: `The function id ${offence}` };
  if (id.startsWith('engine::') && !isOfForeignConsole(context, session, id)) {
    return { ok: false, reason: `Ids that begin with 'engine::' belong to the engine` };
  }
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
  const elsewhere = holderElsewhere(context, session, id);
  if (elsewhere !== undefined) return { ok: false, reason: duplicateText(id, elsewhere) };
  const rank = rankOf(context, id);
  takeFromOthers(context, session, id);
  const spec = specOf(frame);
  const order = orderOf(context, session, id);
  if (order !== undefined) spec.order = order;
  const outcome = context.functions.register(id, session, spec);
  if (!outcome.ok) return outcome;
  if (order === undefined && mustBeProven(context, id)) beginProof(context, id);
  if (session.access === undefined) reserve(context, 'function', id);
  return { ...outcome, isTrustedMore: rankOf(context, id) > rank, url: url?.value };
}

/** Work that waits for a worker of more trust can run when it rises. */
export function rankOf({ functions }: RouterContext, id: string): number {
  const entry = functions.get(id);
  return trustRank(entry?.kind === 'worker' ? entry : undefined);
}

/** The console of `iii` is a trusted worker that has its functions there (T10). */
function isOfForeignConsole({ settings }: RouterContext, { access }: Session, id: string): boolean {
  return settings.isDropIn && access === undefined && id.startsWith('engine::console::');
}

/**
 * A function that is a URL reads secrets of the engine's environment, so restricted connections cannot register one.
 */
function urlFunction(context: RouterContext, session: Session, invocation: RawJson): ReadUrlFunction {
  if (session.access !== undefined) {
    return { ok: false, reason: 'Only trusted workers may register functions that are a URL' };
  }
  const read = readUrlFunction(parseRawJson(invocation), context.environment);
  const refusal = read.ok ? context.outgoing.refusal(read.value.url) : undefined;
  return refusal === undefined ? read : { ok: false, reason: `invocation.url is refused: ${refusal}` };
}

/**
 * A trusted worker shares its functions with no restricted connection. A connection with a prefix shares what the
 * prefix covers with no connection that was not granted it: calls meant for one would run on the other (X9).
 */
function takeFromOthers(context: RouterContext, { access: own }: Session, id: string): void {
  if (own !== undefined && !coversId(own, id)) return;
  const by = own === undefined ? 'A trusted worker' : 'The connection that was granted its prefix';
  withdraw(context, id, by, (access) => own !== undefined && coversId(access, id));
}

/** Another engine offers the function, or reserves its name: connections with less trust lose it, on all engines. */
export function withdrawFromRestricted(context: RouterContext, id: string, trust: Trust): void {
  if (trust === 'trusted') {
    withdraw(context, id, 'A trusted worker of another engine', () => false);
    const entry = context.functions.get(id);
    const others = entry?.kind === 'worker' ? entry.remotes.filter((offer) => offer.trust !== 'trusted') : [];
    for (const { engine } of others) context.functions.withdrawRemotely(id, engine);
  }
  if (trust !== 'granted') return;
  const by = 'The connection of another engine that was granted its prefix';
  withdraw(context, id, by, (access) => coversId(access, id));
}

function withdraw(context: RouterContext, id: string, by: string, mayKeep: (access: Access) => boolean): void {
  const entry = context.functions.get(id);
  if (entry?.kind !== 'worker') return;
  for (const one of entry.executors.filter(({ access }) => access !== undefined && !mayKeep(access))) {
    one.functions.delete(id);
    context.functions.unregister(id, one);
    rejectFunction(context, one, id, `${by} offers this function from now on`);
  }
}

function mustBeProven({ functions, settings }: RouterContext, id: string): boolean {
  const entry = functions.get(id);
  return settings.isInCluster === true && entry?.kind === 'worker' && entry.balance === 'reject_duplicates';
}

/** With `reject_duplicates` a worker that registers its function again has it as long as before. */
function orderOf(context: RouterContext, session: Session, id: string): number | undefined {
  const entry = context.functions.get(id);
  if (entry?.kind !== 'worker' || !mustBeProven(context, id)) return undefined;
  return entry.specs[entry.executors.indexOf(session)]?.order;
}

/** With `reject_duplicates`: the engine whose worker has the function. One that leaves gives it up. */
function holderElsewhere({ functions }: RouterContext, session: Session, id: string): RemoteEngine | undefined {
  const entry = functions.get(id);
  if (entry?.kind !== 'worker' || entry.balance !== 'reject_duplicates') return undefined;
  return entry.remotes.find((offer) => holdsAgainst(session, offer))?.engine;
}

/** No restricted connection keeps a function from a trusted worker. */
function holdsAgainst({ access }: Session, { engine, trust }: RemoteOffer<RemoteEngine>): boolean {
  return engine.isUp && !engine.isDraining && (trust === 'trusted' || access !== undefined);
}

/** Two engines registered it before they knew of each other: the later one gives it up. */
export function withdrawDuplicate(context: RouterContext, id: string): void {
  const entry = context.functions.get(id);
  if (entry?.kind !== 'worker' || entry.balance !== 'reject_duplicates') return;
  const [executor, order] = [entry.executors[0], entry.specs[0]?.order];
  // While its order is not known, or that of one of the two in the process alone, there is nothing to compare.
  if (executor === undefined || order === undefined) return;
  const isLater = (offer: RemoteOffer<RemoteEngine>): boolean =>
    offer.order < order && isProvisional(offer.order) === isProvisional(order);
  const holder = entry.remotes.find((offer) => isLater(offer) && holdsAgainst(executor, offer))?.engine;
  if (holder === undefined) return;
  executor.functions.delete(id);
  context.functions.unregister(id, executor);
  rejectFunction(context, executor, id, duplicateText(id, holder));
}

function duplicateText(id: string, { shownId }: RemoteEngine): string {
  return `'${id}' is already registered by a worker of engine ${shownId}, and balance is reject_duplicates`;
}

/** The memory that a registration takes for its life. */
export function sizeOf(...parts: readonly (string | undefined)[]): number {
  return parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
}

/** Kept as long as the registration, so they are copied out of their frame. */
function specOf(frame: RegisterFunction<RawJson>): FunctionSpec {
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
 * other code: only the engine's own SDK gets further codes (wire 2.3).
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

export function reserve(context: RouterContext, kind: ReservedKind, name: string): void {
  const forgotten = context.reservations.reserve(kind, name);
  if (forgotten === undefined) return;
  context.counters.count('reservations.forgotten');
  context.logger.warn(
    'The table of names reserved for trusted workers is full: the name used least recently is open to ports with rbac',
    { kind: forgotten.kind, name: forgotten.name, limit: context.reservations.size },
  );
}
