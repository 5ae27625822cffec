// Workers of the other engines of a cluster, as `engine::workers::list` and `::info` of these engines show them.

import { Refusal } from '../core/calls/refusal.ts';
import { isWorkersAnswer } from '../generated/cluster-values.ts';
import { rawJson } from '../protocol/json/byte-string.ts';
import { Payload } from '../protocol/payload/payload.ts';
import type { BuiltinCall } from '../router/builtin.ts';
import type { RouterPort } from '../router/port.ts';
import type { WorkerRow } from '../router/registrations/rows.ts';
import { type AnswersOfEngines, parseAnswer } from '../router/remote/ask-engines.ts';

export interface WorkersElsewhere {
  readonly workers: readonly WorkerRow[];
  /** Absent: all engines have answered. */
  readonly missing_engines?: readonly { readonly engine: string; readonly reason: string }[];
}

export const WORKERS_LIST = 'engine::workers::list';
export const WORKERS_INFO = 'engine::workers::info';

type Port = Pick<RouterPort, 'others'>;

/** Without their modules, which every engine has. `undefined`: there are no other engines. */
export function workersElsewhere(router: Port, filter: object): Promise<WorkersElsewhere> | undefined {
  return router.others.askRouters(WORKERS_LIST, Payload.ofText(rawJson(filter)))?.then(readWorkers);
}

/** Those of the other routers of this process. `undefined`: there are none. */
export function workersOfRouters(router: Port): Promise<WorkersElsewhere> | undefined {
  return router.others.askRouters(WORKERS_LIST, Payload.ofText(rawJson({})), true)?.then(readWorkers);
}

function readWorkers(answers: AnswersOfEngines): WorkersElsewhere {
  const workers = answers.parts.flatMap(({ engine, isRouter, json }) => {
    const answer = parseAnswer(json);
    if (!isWorkersAnswer(answer)) return [];
    const workers = answer.workers.filter(({ runtime }) => runtime !== 'engine');
    return isRouter ? workers : workers.map((row) => ({ ...row, engine }));
  });
  return { workers, ...(answers.missing.length > 0 && { missing_engines: answers.missing }) };
}

/**
 * What the engine of that worker answers: nothing if none has it. Rejects if one that may have it does not answer.
 * `undefined`: there are no other engines, or the caller may not see every worker.
 */
export function infoElsewhere(
  router: Port,
  payload: { readonly worker_id?: string | null; readonly name?: string | null },
  { rights, isRelayed, callerWorkerId }: Pick<BuiltinCall, 'rights' | 'isRelayed' | 'callerWorkerId'>,
): Promise<object | undefined> | undefined {
  const maySee = rights === undefined || (callerWorkerId !== undefined && payload.worker_id === callerWorkerId);
  if (!maySee || isRelayed === true) return undefined;
  return router.others
    .askRouters(WORKERS_INFO, Payload.ofText(rawJson(payload)))
    ?.then(({ parts: [part], missing }) => {
      const answer = part && parseAnswer(part.json);
      if (typeof answer !== 'object' || answer === null) {
        assertAllAnswered(payload.worker_id ?? payload.name ?? '', missing);
        return undefined;
      }
      return part === undefined || part.isRouter ? answer : { ...answer, engine: part.engine };
    });
}

/** Throws if an engine that may have the worker has not answered. */
export function assertAllAnswered(worker: string, missing: AnswersOfEngines['missing']): void {
  if (missing.length === 0) return;
  const engines = missing.map(({ engine, reason }) => `engine ${engine} has not answered (${reason})`).join(', ');
  throw new Refusal('ENGINE_UNREACHABLE', `Whether worker ${worker} is connected is not known: ${engines}`);
}
