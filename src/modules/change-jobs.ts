// Triggers that name a queue: changes of a store that become jobs of the queue, at least once (S5, PD-54).
//
// The store writes the job in the transaction of the change if it can, and otherwise an entry of its outbox
// (`store/commands/change-outbox`). This file sends the store the plan of the triggers, and empties the outbox, oldest
// first. Each job goes to its queue under a key of its own, then its entry is removed, so that a repeat is the same
// job.
//
// Invariants:
//   - The plan of the store is that of the triggers: it is sent with each that is added or removed, before later
//     changes. It still contains a queue that is no longer configured, whose jobs wait in the outbox until it is back.
//   - One page of the outbox is processed at a time.
//   - A queue that takes no jobs does not block the jobs of other queues (`outbox-order.ts`).
//   - When a FIFO queue is added again, its new jobs follow those in the outbox until these have gone. The store
//     reports this with each plan, and is asked again when a page was empty (F3).
//   - Within a group of a FIFO queue, a job is sent only after the one before it was taken (`outbox-order.ts`).

import type { KeptRights } from '../core/access/kept-rights.ts';
import { laneOf, withoutLane } from '../core/queue/queue-names.ts';
import type { ChangePlan, ChangeTarget, EnqueueAnswer, EnqueueRules, OutboxHead } from '../core/queue/shapes.ts';
import { distinctBindings } from '../core/registry/trigger-table.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import { isOutboxPage, isOutboxPlaces, isPlanAnswer } from '../generated/queue-shapes.ts';
import { asRawJson } from '../protocol/json/byte-string.ts';
import { Payload } from '../protocol/payload/payload.ts';
import type { Binding, Cause, JobTarget } from '../router/builtin.ts';
import type { RouterPort } from '../router/port.ts';
import { rightsToKeep, trustedFirst } from '../router/restricted/reach.ts';
import { decodeFramed, parseAs } from '../store/commands/queue/encoding.ts';
import { readGroup } from '../store/commands/queue/group-value.ts';
import type { Store } from '../store/thread/contract.ts';
import { OutboxRounds, sendInLines } from './outbox-order.ts';

export interface ChangeJobsOptions {
  /** The owner of the changes: names the plan in the store. */
  readonly owner: string;
  readonly store: Store;
  /**
   * Of a store of this machine, or of a Redis, where all engines that work on the same queues share it. `undefined`: it
   * has none.
   */
  readonly outbox: 'own' | 'shared' | undefined;
  /** The fields by which a FIFO queue may group its events. */
  readonly groupFields: readonly string[];
  readonly router: Pick<
    RouterPort,
    'jobTarget' | 'jobTaker' | 'sharesQueue' | 'takeJob' | 'onQueuesChanged' | 'onQueueJudged' | 'count'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface SentJob extends OutboxHead {
  readonly payload: Buffer;
}

interface QueuedBinding {
  readonly queue: string;
  readonly where: readonly (string | undefined)[];
  /** The trigger ignores changes of this kind. */
  readonly exceptKind?: string | undefined;
}

/** Every change checks all of them. */
const TRIGGERS_MAX = 1_000;
/** Those of all restricted connections together. */
const RESTRICTED_TRIGGERS_MAX = 100;
const RETRY_MS = 1_000;
/** Another engine moves a page: a few milliseconds. */
const BUSY_MS = 50;
/** Jobs of engines that ended wait in a shared outbox until another one looks. */
const LOOK_MS = 2_000;
const LOG_INTERVAL_MS = 60_000;
/**
 * The size that W3C Baggage requires every system to carry. More is of no use to a job, and every write would carry it.
 */
const BAGGAGE_BYTES_MAX = 8_192;

export class ChangeJobs {
  readonly #options: ChangeJobsOptions;
  readonly #bindings = new Map<Binding, QueuedBinding>();
  /**
   * For each trigger in the plan that the store used for the changes being answered: whether its jobs were written with
   * them, or wait in the outbox.
   */
  #inForce: ReadonlyMap<Binding, boolean> = new Map();
  /** Queues of this store whose jobs still wait in the outbox. */
  #held: readonly string[] = [];
  /** The targets as they were last seen. */
  readonly #targets = new Map<string, JobTarget>();
  #isSending = false;
  #isNudged = false;
  #isStopped = false;
  readonly #rounds = new OutboxRounds();
  #isRoundDue = false;
  /** The store did not answer, or did not remove the sent entries: the next round starts from the beginning. */
  #hasFailed = false;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #cancelRetry: (() => void) | undefined;
  #cancelPlan: (() => void) | undefined;
  #stopLooking: (() => void) | undefined;
  readonly #hooks: (() => void)[];

  constructor(options: ChangeJobsOptions) {
    this.#options = options;
    const { router, owner } = options;
    this.#hooks = [
      router.onQueuesChanged(() => {
        if (this.#bindings.size === 0 || this.#isStopped) return;
        this.#sendPlan(undefined);
        this.#sendFromOldest();
      }),
      router.onQueueJudged((queue, rules) => {
        const isNamed = [...this.#bindings.values()].some((queued) => queued.queue === queue);
        const offence = isNamed ? this.#groupOffence(queue, rules) : undefined;
        return offence && `a trigger of ${owner} names it. ${offence}`;
      }),
    ];
  }

  /** Why the trigger cannot name that queue. */
  refuse(queue: string, binding: Binding): string | undefined {
    const { owner, router, outbox } = this.#options;
    if (outbox === undefined) {
      const where = `where ${owner} is kept on this machine or in a Redis (adapters kv and extstore)`;
      return `A trigger can name a queue only ${where}: a bridge keeps no outbox`;
    }
    const target = router.jobTarget(queue);
    if (typeof target === 'string') return target;
    if (outbox === 'shared' && router.jobTaker?.place === undefined) {
      const needed = 'a trigger can name a queue only if its jobs outlive the engine';
      const remedy = 'give svc-queue a directory (store_method: file_based) or a Redis (adapter extstore)';
      return `Where ${owner} is kept in a Redis, ${needed}: ${remedy}`;
    }
    if (this.#bindings.size >= TRIGGERS_MAX)
      return `The limit of triggers of ${owner} that name a queue is ${TRIGGERS_MAX}`;
    const restricted = isRestricted(binding) ? [...this.#bindings.keys()].filter(isRestricted).length : 0;
    if (restricted >= RESTRICTED_TRIGGERS_MAX) {
      return `The limit of triggers of ${owner} that name a queue is ${RESTRICTED_TRIGGERS_MAX} on restricted ports`;
    }
    return this.#groupOffence(queue, target.rules);
  }

  #groupOffence(queue: string, { groupField }: EnqueueRules): string | undefined {
    const { groupFields } = this.#options;
    if (groupField === undefined || groupFields.includes(groupField)) return undefined;
    return `Queue '${queue}' groups by '${groupField}', which no event has: it can be one of ${groupFields.join(', ')}`;
  }

  bound(binding: Binding, queued: QueuedBinding): void {
    this.#bindings.set(binding, queued);
    this.#sendPlan(queued.queue);
  }

  unbound(binding: Binding): void {
    const queued = this.#bindings.get(binding);
    if (queued === undefined) return;
    this.#bindings.delete(binding);
    this.#sendPlan(queued.queue);
  }

  /** The cause of a change for the store, so that its jobs do not begin traces of their own. */
  traceOf({ traceparent, baggage = '' }: Cause): string | undefined {
    if (this.#bindings.size === 0 || traceparent === undefined) return undefined;
    return `${traceparent}\n${Buffer.byteLength(baggage) > BAGGAGE_BYTES_MAX ? '' : baggage}`;
  }

  /**
   * A change for these triggers is durable, and so are its jobs or their entries. Returns the triggers to call
   * directly.
   */
  divert(bindings: readonly Binding[]): readonly Binding[] {
    const queued = bindings.filter((binding) => this.#bindings.has(binding));
    if (queued.length === 0) return bindings;
    this.#changed(queued);
    return bindings.filter((binding) => !this.#bindings.has(binding));
  }

  #changed(bindings: readonly Binding[]): void {
    const { clock, router } = this.#options;
    for (const binding of bindings) {
      const queued = this.#bindings.get(binding);
      const isHere = this.#inForce.get(binding);
      // The trigger came after the change, or an equal one is in the plan for both.
      if (queued === undefined || isHere === undefined) continue;
      binding.lastFiredAtMs = clock.nowMs();
      if (isHere) router.jobTaker?.jobsCame(queued.queue, 1);
      else this.#send();
    }
  }

  /** Loads what an earlier run left: its plan, and jobs that were not sent yet. */
  start(): void {
    const { outbox, clock } = this.#options;
    if (outbox === undefined) return;
    this.#sendPlan(undefined);
    this.#send();
    if (outbox !== 'shared') return;
    this.#stopLooking = clock.every(LOOK_MS, () => this.#sendFromOldest());
    this.#reportOtherPlaces();
  }

  /** The place of a directory has the name of its machine: under another name, its jobs would wait unseen. */
  #reportOtherPlaces(): void {
    const { store, owner, logger } = this.#options;
    store.run('outbox::places', Buffer.from('{}'), ({ result }) => {
      if (result === undefined) return;
      const { place: own } = this.#place;
      for (const { place, jobs } of parseAs(result, isOutboxPlaces).places) {
        if (place !== own) logger.warn('Jobs of triggers wait for the queues of another place', { owner, place, jobs });
      }
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#cancelPlan?.();
    this.#stopLooking?.();
    for (const unhook of this.#hooks.splice(0)) unhook();
  }

  /** Names the outbox, where there are several. */
  get #place(): { readonly place?: string } {
    const { outbox, router } = this.#options;
    const place = outbox === 'shared' ? router.jobTaker?.place : undefined;
    return place === undefined ? {} : { place };
  }

  #isHere(queue: string): boolean {
    const target = this.#options.router.jobTarget(queue);
    return typeof target !== 'string' && target.store === this.#options.store;
  }

  /** Its jobs go to the lane of the queue, which the queue module opens: so they go through the outbox. */
  #isApart(rights: KeptRights | undefined, queue: string): boolean {
    return rights !== undefined && !this.#options.router.sharesQueue(rights, queue);
  }

  #sendPlan(changed: string | undefined): void {
    const { owner, store, router, logger } = this.#options;
    const planned = distinctBindings(trustedFirst(this.#bindings.keys())).flatMap((binding) =>
      this.#targetOf(binding).map((target) => ({ binding, target })),
    );
    const plan: ChangePlan = { owner, targets: planned.map(({ target }) => target), ...this.#place };
    store.run('outbox::plan', Buffer.from(JSON.stringify(plan)), ({ result, error }) => {
      if (error !== undefined || result === undefined) {
        logger.error('Triggers that name a queue could not be set', { owner, error });
      } else {
        this.#held = parseAs(result, isPlanAnswer).held;
        const isHere = (target: ChangeTarget): boolean => target.isHere && !this.#held.includes(target.queue);
        this.#inForce = new Map(planned.map(({ binding, target }) => [binding, isHere(target)]));
        if (this.#held.length > 0) this.#send();
      }
      // Jobs of earlier changes whose trigger no longer exists.
      if (changed !== undefined) router.jobTaker?.jobsCame(changed, 0);
    });
  }

  #targetOf(binding: Binding): ChangeTarget[] {
    const queued = this.#bindings.get(binding);
    if (queued === undefined) return [];
    const now = this.#options.router.jobTarget(queued.queue);
    if (typeof now !== 'string') this.#targets.set(queued.queue, now);
    const target = this.#targets.get(queued.queue);
    if (target === undefined) return [];
    const { id, type, functionId, metadata, conditionFunctionId } = binding;
    const rights = rightsToKeep(binding);
    return [
      {
        where: queued.where.map((name) => name ?? null),
        ...(queued.exceptKind !== undefined && { exceptKind: queued.exceptKind }),
        queue: this.#isApart(rights, queued.queue) ? laneOf(queued.queue) : queued.queue,
        rules: target.rules,
        payloadBytesMax: target.payloadBytesMax,
        facts: {
          functionId,
          trigger: { id, type },
          ...(rights !== undefined && { rights }),
          ...(metadata !== undefined && { metadata }),
          ...(conditionFunctionId !== undefined && { conditionFunctionId }),
        },
        isHere: this.#isHere(queued.queue) && !this.#isApart(rights, queued.queue),
      },
    ];
  }

  /** Queues that refused jobs may take them again. */
  #sendFromOldest(): void {
    this.#isRoundDue = true;
    this.#send();
  }

  #send(): void {
    this.#isNudged = true;
    if (this.#isSending || this.#isStopped) return;
    this.#isSending = true;
    this.#isNudged = false;
    if (this.#isRoundDue) this.#beginRound();
    const ask = Buffer.from(JSON.stringify({ ...this.#rounds.next, ...this.#place }));
    this.#options.store.run('outbox::oldest', ask, ({ result, error }) => {
      if (result !== undefined && error === undefined) return this.#sendPage(result);
      this.#hasFailed = true;
      this.#waits(error?.message ?? 'no answer');
      this.#goOn(false);
    });
  }

  #beginRound(): void {
    this.#isRoundDue = false;
    if (this.#hasFailed) this.#rounds.restart();
    else this.#rounds.begin();
    this.#hasFailed = false;
  }

  #sendPage(bytes: Uint8Array): void {
    const { head, body } = decodeFramed(bytes);
    if (!isOutboxPage(head)) throw new Error('The store answered a page of its outbox with an unknown shape');
    const { jobs, lookedTo, hasMore, isBusy } = head;
    this.#rounds.looked(lookedTo);
    if (isBusy === true) this.#sendLater(BUSY_MS);
    if (jobs.length === 0) return this.#goOn(hasMore);
    let end = 0;
    const sent = jobs.map((job) => {
      end += job.bytes;
      return { ...job, payload: body.subarray(end - job.bytes, end) };
    });
    const gone: number[] = [];
    sendInLines(
      sent,
      ({ queue, payload }) => this.#lineOf(queue, payload),
      (job, done) =>
        this.#take(job, (answer) => {
          const isTaken = !('reason' in answer);
          if (isTaken) gone.push(job.seq);
          else if (this.#rounds.refused(job.queue)) this.#waits(answer.message);
          done(isTaken);
        }),
      () => this.#drop(gone, hasMore),
    );
  }

  /** The group of a FIFO queue that the job belongs to. */
  #lineOf(queue: string, payload: Uint8Array): string | undefined {
    const target = this.#options.router.jobTarget(withoutLane(queue));
    if (typeof target === 'string' || target.rules.groupField === undefined) return undefined;
    const group = readGroup(queue, target.rules.groupField, payload);
    return `${queue}\n${group.ok ? group.digest : ''}`;
  }

  #take({ queue, facts, key, payload }: SentJob, done: (answer: EnqueueAnswer) => void): void {
    this.#options.router.takeJob(
      {
        functionId: facts.functionId,
        payload: Payload.ofBytes(payload, 0, payload.length),
        metadata: facts.metadata === undefined ? undefined : asRawJson(facts.metadata),
        traceparent: facts.traceparent,
        baggage: facts.baggage,
        action: { type: 'enqueue', queue: withoutLane(queue), idempotency_key: key },
        trigger: facts.trigger,
        rights: facts.rights,
        conditionFunctionId: facts.conditionFunctionId,
      },
      done,
    );
  }

  #drop(gone: readonly number[], hasMore: boolean): void {
    const { store, outbox } = this.#options;
    // Another engine may move the next page of a shared outbox.
    if (gone.length === 0 && outbox === 'own') return this.#goOn(hasMore);
    store.run('outbox::drop', Buffer.from(JSON.stringify({ seqs: gone, ...this.#place })), ({ error }) => {
      if (error !== undefined) {
        this.#hasFailed = true;
        this.#waits(error.message);
      }
      this.#goOn(hasMore);
    });
  }

  /** Entries that come in the meantime are at the end, where the round continues. */
  #goOn(hasMore: boolean): void {
    this.#isSending = false;
    if (hasMore || this.#isNudged) return this.#send();
    const { refusing } = this.#rounds.next;
    if (this.#isStopped || this.#held.every((queue) => refusing.includes(queue))) return;
    this.#cancelPlan ??= this.#options.clock.after(RETRY_MS, () => {
      this.#cancelPlan = undefined;
      this.#sendPlan(undefined);
    });
  }

  #waits(reason: string): void {
    const { clock, logger, router, owner } = this.#options;
    router.count('triggers.outbox_waits');
    if (clock.monotonicMs() - this.#loggedMs >= LOG_INTERVAL_MS) {
      this.#loggedMs = clock.monotonicMs();
      logger.warn('Jobs of triggers wait: their queue refuses them', { owner, reason });
    }
    this.#sendLater(RETRY_MS);
  }

  #sendLater(ms: number): void {
    if (this.#isStopped) return;
    this.#cancelRetry ??= this.#options.clock.after(ms, () => {
      this.#cancelRetry = undefined;
      this.#sendFromOldest();
    });
  }
}

function isRestricted({ owner }: Binding): boolean {
  return owner?.access !== undefined;
}
