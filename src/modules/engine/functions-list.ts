// `engine::functions::list` and `engine::functions::info`.

import type { Access } from '../../core/access/access.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { validateFunctionsInfo, validateFunctionsList } from '../../generated/module-payloads.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Entry, FunctionRow } from '../../router/registrations/rows.ts';
import { hiddenRefusal, mayBeShown } from '../../router/restricted/reach.ts';
import type { EngineAnswers, FunctionDetail } from './answers.ts';

const BATCH_MAX = 32;

export type Later<Answer> = Answer | Promise<Answer>;

/** At once, where no other engine has to be asked for what is shown. */
export function whenKnown<Answer>(asked: readonly (Promise<void> | undefined)[], answer: () => Answer): Later<Answer> {
  return asked.every((one) => one === undefined) ? answer() : Promise.all(asked).then(answer);
}

export function functionsList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::functions::list';
  return {
    id,
    description: 'Lists the functions that can be called',
    handle(payload, { rights, isRelayed }): Later<EngineAnswers[typeof id]> {
      const filter = readPayload(id, validateFunctionsList, payload);
      const workers = [...(filter.workers ?? []), ...(filter.worker == null ? [] : [filter.worker])];
      const wanted = (): Entry[] =>
        [...router.functions()]
          .filter((entry) => rights === undefined || rights.mayReach(entry.id))
          .filter((entry) => filter.prefix == null || entry.id.startsWith(filter.prefix));
      const answer = (): EngineAnswers[typeof id] => {
        const rows = wanted()
          .map((entry) => router.functionRow(entry))
          .filter((row) => filter.include_internal === true || !isInternal(row))
          .filter((row) => !(router.isDropIn && filter.include_internal === false && isOfEngine(row)))
          .filter((row) => workers.length === 0 || workers.some((worker) => isOfferedBy(row, worker)));
        return { functions: filter.search == null ? sortById(rows) : rank(rows, filter.search) };
      };
      const ids = filter.prefix == null && rights === undefined ? undefined : wanted().map((entry) => entry.id);
      return whenKnown(isRelayed ? [] : [router.others.describe(ids)], answer);
    },
  };
}

export function functionsInfo(router: RouterPort): BuiltinDefinition {
  const id = 'engine::functions::info';
  return {
    id,
    description: 'Describes one function, or up to 32: schemas, workers and triggers',
    handle(payload, { rights, isRelayed }): Later<EngineAnswers[typeof id]> {
      const { function_id: one, function_ids: many } = readPayload(id, validateFunctionsInfo, payload);
      if ((one == null) === (many == null)) {
        throw new Refusal('INVALID_ARGUMENTS', 'Give either function_id or function_ids');
      }
      const ids = one == null ? (many ?? []) : [one];
      if (ids.length === 0 || ids.length > BATCH_MAX) {
        throw new Refusal('INVALID_ARGUMENTS', `function_ids must hold 1 to ${BATCH_MAX} ids, found ${ids.length}`);
      }
      const described = isRelayed ? [] : [router.others.describe(ids)];
      if (one != null) return whenKnown(described, () => detail(router, one, rights) ?? refuseUnknown(one, rights));
      return whenKnown(described, () => ({
        functions: ids.map(
          (functionId) =>
            detail(router, functionId, rights) ?? {
              function_id: functionId,
              error: rights === undefined ? 'not_found' : 'forbidden',
            },
        ),
      }));
    },
  };
}

/** `undefined`: it does not exist, or the caller may not see it. */
function detail(router: RouterPort, functionId: string, rights: Access | undefined): FunctionDetail | undefined {
  const isShown = rights === undefined || rights.mayReach(functionId);
  const entry = isShown ? router.functionEntry(functionId) : undefined;
  if (entry === undefined) return undefined;
  const { request_format: requestSchema, response_format: responseSchema, ...row } = router.functionRow(entry);
  return {
    ...row,
    ...(requestSchema !== undefined && { request_schema: requestSchema }),
    ...(responseSchema !== undefined && { response_schema: responseSchema }),
    registered_triggers: triggersOf(router, entry, rights),
  };
}

function triggersOf(router: RouterPort, entry: Entry, rights: Access | undefined) {
  return [...router.triggersTo(entry.id)]
    .filter((binding) => mayBeShown(rights, binding))
    .map((binding) => router.triggerRow(binding))
    .map(({ id, trigger_type, config, status }) => ({ id, trigger_type, config, status }));
}

function refuseUnknown(functionId: string, rights: Access | undefined): never {
  if (rights !== undefined) throw hiddenRefusal('Function', functionId);
  throw new Refusal('NOT_FOUND', `Function ${functionId} not found`);
}

/** Also those of queues, which `iii` does not list for a caller that wants no internal functions. */
function isOfEngine({ function_id: id }: FunctionRow): boolean {
  return id.startsWith('engine::');
}

/** The engine's own functions, and those whose registration says `metadata: {internal: true}`. */
function isInternal(row: FunctionRow): boolean {
  const { function_id: id } = row;
  if (id.startsWith('worker::') || (id.startsWith('engine::') && !id.startsWith('engine::queue::'))) return true;
  const { metadata } = row;
  return typeof metadata === 'object' && metadata !== null && 'internal' in metadata && metadata.internal === true;
}

function isOfferedBy(row: FunctionRow, worker: string): boolean {
  return row.worker_name === worker || row.workers.some(({ id, name }) => id === worker || name === worker);
}

function sortById(rows: FunctionRow[]): FunctionRow[] {
  return rows.sort((a, b) => (a.function_id < b.function_id ? -1 : 1));
}

/** Matches in the id come before matches in the description; within each, by id. */
function rank(rows: FunctionRow[], search: string): FunctionRow[] {
  const wanted = search.toLowerCase();
  const inId = rows.filter((row) => row.function_id.toLowerCase().includes(wanted));
  const found = new Set(inId);
  const elsewhere = rows.filter((row) => !found.has(row) && row.description?.toLowerCase().includes(wanted));
  return [...sortById(inId), ...sortById(elsewhere)];
}
