// When triggers fired last, on whichever engine of the cluster. The engine where an event happens fires the trigger and
// notes the time, so the others are asked when a list shows it.

import { isListedFirings } from '../../generated/cluster-values.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { RouterContext } from '../context.ts';
import { askAll, parseAnswer } from './ask-engines.ts';
import { enginesOf } from './offers.ts';

const TRIGGERS_LIST = 'engine::registered-triggers::list';

/** What another engine answers, as far as it is read here. */
export interface ListedFirings {
  readonly registered_triggers: readonly ListedFiring[];
}

interface ListedFiring {
  readonly id: string;
  /** The engine of its worker, where that is another one than the engine that answers. */
  readonly engine?: string;
  /** Absent: the trigger has no worker. */
  readonly worker_id?: string;
  readonly last_fired_at?: string;
}

/** Resolves when the triggers of this engine have the times; `undefined`: there are no other engines. */
export function learnFirings(context: RouterContext, functionId?: string): Promise<void> | undefined {
  const filter = { include_internal: true, ...(functionId !== undefined && { function_id: functionId }) };
  const payload = Payload.ofText(rawJson(filter));
  const asked = askAll(context, enginesOf(context), TRIGGERS_LIST, payload);
  return asked?.then(({ parts }) => {
    for (const { engine, json } of parts) {
      const answer = parseAnswer(json);
      if (!isListedFirings(answer)) continue;
      for (const row of answer.registered_triggers) noteFiring(context, engine, row);
    }
  });
}

function noteFiring(context: RouterContext, engine: string, row: ListedFiring): void {
  const atMs = Date.parse(row.last_fired_at ?? '');
  for (const id of idsHere(context, engine, row)) {
    const binding = context.triggers.binding(id);
    if (binding !== undefined && atMs > (binding.lastFiredAtMs ?? 0)) binding.lastFiredAtMs = atMs;
  }
}

/** The ids under which this engine may list a trigger that `engine` lists: its worker is at any router there. */
function idsHere(
  { engineId, remoteEngines }: RouterContext,
  engine: string,
  { id, engine: owner, worker_id: worker }: ListedFiring,
): string[] {
  if (owner === engineId) return [id.slice(engineId.length + 1)];
  // Triggers without a worker have one id on all engines.
  if (owner !== undefined || worker === undefined) return [id];
  return [...remoteEngines].filter(({ shownId }) => shownId === engine).map((router) => `${router.id}/${id}`);
}
