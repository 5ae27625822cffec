// Changes that become jobs (S5, PD-54). The job of a trigger that names a queue is written in the transaction of the
// change. If the queue lies in the same store, the job itself is written; otherwise an entry of the outbox, which the
// module moves to the queue (`modules/change-jobs.ts`).
//
// The plan says which changes become jobs of which queues. It is kept in the store, because every change reads it and
// sending it with each change would be slow. It is valid for one run of the engine, as triggers are.

import { Refusal } from '../../../core/calls/refusal.ts';
import type { ChangePlan, ChangeTarget, PlanAnswer } from '../../../core/queue/shapes.ts';
import { isChangePlan } from '../../../generated/queue-shapes.ts';
import type { Kv } from '../../kv/kv.ts';
import type { LocalContext, StoreCommand, StoreEvent, StoreReply } from '../../thread/contract.ts';
import { parseAs, toJson } from '../queue/encoding.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { OpenQueues } from '../queue/open-queues.ts';
import { OutboxWriter, planKey, queuesInOutbox } from './entries.ts';
import { isMeant, jobTooLarge, NOT_MADE, within } from './targets.ts';

/** Returns the queues of this store that get their jobs through the outbox anyway. */
export const putPlan: StoreCommand = {
  name: 'outbox::plan',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes) {
    const plan = parseAs(bytes, isChangePlan);
    const key = planKey(plan.owner);
    const held = heldQueues(kv, plan);
    const targets = plan.targets.map((target) => ({ ...target, isHere: target.isHere && !held.has(target.queue) }));
    if (targets.length > 0) kv.put(key, toJson({ ...plan, targets }));
    else if (kv.get(key) !== undefined) kv.remove(key);
    const answer: PlanAnswer = { held: [...held] };
    return { result: toJson(answer) };
  },
};

/**
 * FIFO queues that were added again. While older jobs of such a queue wait in the outbox, new ones wait there too (F3).
 */
function heldQueues(kv: Kv, { targets }: ChangePlan): ReadonlySet<string> {
  const ordered = targets.filter(({ isHere, rules }) => isHere && rules.groupField !== undefined);
  return ordered.length === 0 ? new Set() : queuesInOutbox(kv, new Set(ordered.map(({ queue }) => queue)));
}

/**
 * Returns the reply unchanged after its events became jobs. Throws a `Refusal` where one cannot; then nothing has
 * changed. `payloadOf` returns the payload of a job. If the change was made already and cannot be refused, `missing`
 * collects the reasons why jobs could not be made.
 */
export function keepJobs(
  kv: Kv,
  context: LocalContext,
  owner: string,
  reply: StoreReply,
  payloadOf: (event: StoreEvent) => Uint8Array = ({ body }) => body,
  missing?: (reason: string) => void,
): StoreReply {
  const { events = [] } = reply;
  const json = events.length === 0 ? undefined : kv.get(planKey(owner));
  if (json === undefined) return reply;
  const { targets } = planIn(json);
  const queues = new OpenQueues(kv, context);
  const outbox = new OutboxWriter(kv, context, owner);
  for (const event of events) {
    const meant = targets.filter((target) => isMeant(target, event));
    if (meant.length === 0) continue;
    const payload = payloadOf(event);
    for (const target of meant) {
      try {
        keepJob(queues, outbox, within(target, context.trace), payload);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (missing === undefined) throw new Refusal(error.code, `${NOT_MADE}: ${error.message}`);
        missing(error.message);
      }
    }
  }
  queues.close();
  outbox.close();
  return reply;
}

/** Throws a `Refusal` before it writes anything. */
function keepJob(queues: OpenQueues, outbox: OutboxWriter, target: ChangeTarget, body: Uint8Array): void {
  const { queue: name, rules, facts, payloadBytesMax, isHere } = target;
  if (body.length > payloadBytesMax) throw jobTooLarge(target, body.length);
  if (!isHere) return outbox.add({ queue: name, facts }, body);
  const answer = enqueueJob(queues, queues.open(name), rules, { facts: toJson(facts), payload: body });
  if ('reason' in answer) throw new Refusal('enqueue_error', answer.message);
}

let lastJson = Buffer.alloc(0);
let lastPlan: ChangePlan | undefined;

/** The same plan while the triggers are the same. */
function planIn(json: Uint8Array): ChangePlan {
  if (lastPlan !== undefined && lastJson.equals(json)) return lastPlan;
  lastPlan = parseAs(json, isChangePlan);
  lastJson = Buffer.from(json);
  return lastPlan;
}
