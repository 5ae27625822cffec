// `engine::workers::register`, `::list`, `::info` and `::revoke`.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import {
  validateRegisterWorker,
  validateWorkersInfo,
  validateWorkersList,
  validateWorkersReplace,
  validateWorkersRevoke,
} from '../../generated/module-payloads.ts';
import type { WorkerAnnouncement } from '../../protocol/frames/frames.ts';
import { SMALL_PAYLOAD_LIMITS, WORKER_TEXT_CHARS_MAX } from '../../protocol/frames/limits.ts';
import { detach, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { assertTrusted, type BuiltinCall, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { WorkerRow } from '../../router/registrations/rows.ts';
import { WORKERS_REPLACE } from '../../router/remote/moved-workers.ts';
import { hiddenRefusal, mayBeShown } from '../../router/restricted/reach.ts';
import type { Session } from '../../router/session/session.ts';
import type { ModuleContext } from '../module.ts';
import {
  assertAllAnswered,
  infoElsewhere,
  WORKERS_INFO,
  WORKERS_LIST,
  type WorkersElsewhere,
  workersElsewhere,
} from '../workers-elsewhere.ts';
import type { EngineAnswers, WorkerDetail } from './answers.ts';
import type { RegisterWorkerPayload } from './payloads.ts';

export function workersRegister(router: RouterPort): BuiltinDefinition {
  const id = 'engine::workers::register';
  return {
    id,
    description: 'Registers the description of the calling worker',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload, { callerWorkerId, depth }): EngineAnswers[typeof id] {
      const announcement = readPayload(id, validateRegisterWorker, payload);
      if (callerWorkerId === undefined) {
        throw new Refusal('INVALID_ARGUMENTS', `${id} can only be called by a worker connection`);
      }
      router.announceWorker(callerWorkerId, profileOf(announcement), depth);
      return { success: true };
    },
  };
}

export function workersList(context: ModuleContext): BuiltinDefinition {
  const id = WORKERS_LIST;
  const { router } = context;
  return {
    id,
    description: 'Lists the connected workers, of all engines of a cluster, and the modules of the engine',
    handle(payload, call) {
      const filter = readPayload(id, validateWorkersList, payload);
      const wanted = filter.search?.toLowerCase();
      const own = router.workers().map((session) => router.workerRow(session));
      const answer = (elsewhere: WorkersElsewhere): EngineAnswers[typeof id] => ({
        ...elsewhere,
        workers: [...moduleRows(context), ...own, ...elsewhere.workers]
          .flatMap((row) => rowFor(row, call))
          .filter((row) => wanted === undefined || `${row.name ?? ''} ${row.id}`.toLowerCase().includes(wanted))
          .filter((row) => filter.runtime == null || row.runtime === filter.runtime)
          .filter((row) => filter.status == null || row.status === filter.status)
          .filter((row) => filter.worker_id == null || row.id === filter.worker_id)
          .sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
        timestamp: router.nowMs,
      });
      const asked = call.isRelayed ? undefined : workersElsewhere(router, filter);
      return asked === undefined ? answer({ workers: [] }) : asked.then(answer);
    },
  };
}

export function workersInfo({ router }: ModuleContext): BuiltinDefinition {
  const id = WORKERS_INFO;
  return {
    id,
    description: 'Describes one worker with its functions and triggers',
    handle(payload, call) {
      const asked = readPayload(id, validateWorkersInfo, payload);
      const { worker_id: workerId, name } = asked;
      if ((workerId == null) === (name == null)) {
        throw new Refusal('INVALID_ARGUMENTS', 'Give either worker_id or name');
      }
      const found = findWorker(router, workerId, name, call);
      if (found !== undefined) return describeWorker(router, found, call);
      const refusal =
        call.rights === undefined
          ? new Refusal('NOT_FOUND', `Worker ${workerId ?? name} not found`)
          : hiddenRefusal('Worker', workerId ?? name ?? '');
      const elsewhere = infoElsewhere(router, asked, call);
      if (elsewhere === undefined) throw refusal;
      return elsewhere.then((found) => {
        if (found === undefined) throw refusal;
        return found;
      });
    },
  };
}

function describeWorker(router: RouterPort, { session, row }: FoundWorker, call: BuiltinCall): WorkerDetail {
  const { rights } = call;
  const isOwn = session.workerId === call.callerWorkerId;
  return {
    worker: row,
    functions: [...router.functions()]
      .filter((entry) => entry.kind === 'worker' && entry.executors.includes(session))
      .filter((entry) => isOwn || rights === undefined || rights.mayReach(entry.id))
      .map((entry) => router.functionRow(entry)),
    trigger_types: [...router.triggerTypes()]
      .filter(({ provider }) => provider.kind === 'worker' && provider.executor === session)
      .filter((type) => isOwn || rights === undefined || rights.mayBindTo(type.id))
      .map((type) => router.triggerTypeRow(type)),
    registered_triggers: [...router.triggers()]
      .filter((binding) => binding.owner === session && (isOwn || mayBeShown(rights, binding)))
      .map((binding) => router.triggerRow(binding)),
  };
}

/** Closes a connection of a port with rbac. To reconnect, its client must authenticate again (X12). */
export function workersRevoke({ router }: ModuleContext): BuiltinDefinition {
  const id = 'engine::workers::revoke';
  return {
    id,
    description: 'Ends a connection of a port with rbac: its client must authenticate again',
    handle(payload, call) {
      const { worker_id: workerId } = readPayload(id, validateWorkersRevoke, payload);
      // A caller that may list other workers must not be able to disconnect them.
      if (call.rights !== undefined && workerId !== call.callerWorkerId) throw hiddenRefusal('Worker', workerId);
      const outcome = router.revoke(workerId);
      const revoked: EngineAnswers[typeof id] = { success: true };
      if (outcome === 'revoked') return revoked;
      if (outcome === 'trusted') throw trustedRefusal(workerId);
      const unknown = new Refusal('NOT_FOUND', `Worker ${workerId} not found`);
      const asked = call.isRelayed ? undefined : router.others.askRouters(id, Payload.ofText(rawJson(payload)));
      if (asked === undefined) throw unknown;
      return asked.then(({ parts, missing }) => {
        if (parts.length > 0) return revoked;
        if (missing.some(({ reason }) => reason.startsWith('INVALID_ARGUMENTS'))) throw trustedRefusal(workerId);
        assertAllAnswered(workerId, missing);
        throw unknown;
      });
    },
  };
}

function trustedRefusal(workerId: string): Refusal {
  return new Refusal('INVALID_ARGUMENTS', `Worker ${workerId} is trusted: its port has no rbac`);
}

/** Asked by another engine of the cluster, to which the worker has connected. The token is the proof. */
export function workersReplace(router: RouterPort): BuiltinDefinition {
  return {
    id: WORKERS_REPLACE,
    description: 'Ends the connection of a worker that has connected to another engine of the cluster',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload, call): EngineAnswers[typeof WORKERS_REPLACE] {
      assertTrusted(WORKERS_REPLACE, call);
      const move = readPayload(WORKERS_REPLACE, validateWorkersReplace, payload);
      const { previous_worker_id: workerId, reattach_token: token, successor_id: successorId } = move;
      const functions = router.replaceMoved({ workerId, token, successorId });
      if (functions === undefined) throw new Refusal('NOT_FOUND', `Worker ${workerId} not found`);
      return { functions };
    },
  };
}

interface FoundWorker {
  readonly session: Session;
  /** As the caller may see it. */
  readonly row: WorkerRow;
}

/** Names are not unique: a name that several workers have finds none of them. */
function findWorker(
  router: RouterPort,
  workerId: string | null | undefined,
  name: string | null | undefined,
  call: BuiltinCall,
): FoundWorker | undefined {
  const found = router
    .workers()
    .filter((session) => (workerId == null ? session.profile?.name === name : session.workerId === workerId))
    .flatMap((session) => rowFor(router.workerRow(session), call).map((row) => ({ session, row })));
  if (found.length > 1) {
    const ids = found.map(({ row }) => row.id).join(', ');
    throw new Refusal('INVALID_ARGUMENTS', `${found.length} workers are named ${name}; give a worker_id: ${ids}`);
  }
  return found[0];
}

/** A worker as the caller may see it: a caller with rights sees the functions it can call, or nothing (X10). */
function rowFor(row: WorkerRow, { rights, callerWorkerId }: BuiltinCall): WorkerRow[] {
  if (rights === undefined || row.id === callerWorkerId) return [row];
  const functions = row.functions.filter((functionId) => rights.mayReach(functionId));
  if (functions.length === 0) return [];
  // Its host and the load of its machine are not shown to others.
  const { pid: _pid, ...shown } = row;
  return [{ ...shown, functions, function_count: functions.length, ip_address: null, latest_metrics: null }];
}

/** Modules are listed with the workers, because they offer functions too. */
function moduleRows({ router, version, modulesHealth }: ModuleContext): WorkerRow[] {
  const builtins = [...router.functions()].filter((entry) => entry.kind === 'builtin');
  return Object.keys(modulesHealth()).map((name) => {
    const functions = builtins.filter((entry) => entry.module === name).map((entry) => entry.id);
    return {
      id: name,
      name,
      description: null,
      version,
      namespace: 'default',
      runtime: 'engine',
      os: null,
      status: 'available',
      function_count: functions.length,
      functions: functions.sort(),
      connected_at_ms: router.startedAtMs,
      active_invocations: 0,
      isolation: 'in-process',
      ip_address: null,
      internal: true,
      latest_metrics: null,
    };
  });
}

function profileOf(payload: RegisterWorkerPayload): WorkerAnnouncement {
  const profile: WorkerAnnouncement = {};
  for (const key of ['runtime', 'version', 'name', 'description', 'os', 'isolation', 'namespace'] as const) {
    const text = displayText(payload[key]);
    if (text !== undefined) profile[key] = text;
  }
  if (payload.pid != null) profile.pid = payload.pid;
  if (payload.max_in_flight != null) profile.max_in_flight = checkInFlight(payload.max_in_flight);
  return profile;
}

function checkInFlight(max: number): number {
  if (Number.isInteger(max) && max >= 1) return max;
  throw new Refusal('INVALID_ARGUMENTS', `max_in_flight: ${max}, expected a whole number from 1`);
}

/**
 * Text of untrusted clients that people will read: no control or direction characters, limited in length, not blank.
 */
function displayText(text: string | null | undefined): string | undefined {
  const shown = text?.replace(UNPRINTABLE, '').slice(0, WORKER_TEXT_CHARS_MAX).trim();
  return shown === undefined || shown === '' ? undefined : detach(shown);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control and bidirectional characters are what it removes.
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
