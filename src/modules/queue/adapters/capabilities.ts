// What an adapter of queues can do in addition to keeping and moving jobs. Each capability is present or absent as a
// whole. A request that needs an absent one is refused with `NOT_SUPPORTED` and the name of the capability.

import type { UnreportedDetail } from '../../../console/api/queues.ts';
import { Refusal } from '../../../core/calls/refusal.ts';
import type { StoredSubscription } from '../../../core/queue/records.ts';
import type {
  DeadListInput,
  EnqueueRefused,
  EnqueueRules,
  GroupsInput,
  GroupsPage,
  JobOptions,
  JobRow,
  JobsInput,
  JobsPage,
  TakenJob,
} from '../../../core/queue/shapes.ts';

export interface QueueCapabilities {
  /** Keeps jobs that failed for good. Without it they end; `Advanced.died` counts them, and the module logs them. */
  readonly deadLetters?: DeadLetters;
  /** Gives every subscriber of a topic a copy of a message. */
  readonly topics?: TopicStore;
  readonly pausing?: Pausing;
  readonly jobLookup?: JobLookup;
  readonly jobList?: JobList;
  readonly payloads?: JobPayloads;
  readonly groups?: GroupList;
  /**
   * Several engines work on the same queues. Without it only this engine does, and the calls for a queue take effect in
   * the order in which they are made: a step that is requested after a job sees it.
   */
  readonly sharing?: Sharing;
  /** Notices that the store has forgotten what it had acknowledged, and holds its jobs back until a person decides. */
  readonly recovery?: Recovery;
  /** The local store of its jobs: other modules write jobs there in the transaction of their own change. */
  readonly localStore?: object;
  /** Recognises a repeated job by its key (Q3). */
  readonly idempotencyKeys?: true;
  /** Jobs of a higher priority are claimed first. */
  readonly priorities?: true;
  /** The settings of an open queue can change while the engine runs. */
  readonly liveSettings?: true;
  /** The row of a single job lists its failed attempts, not only the last error. */
  readonly attemptHistory?: true;
  /** `stats` counts the jobs that wait for their time or for their next attempt. */
  readonly waitCounts?: true;
}

export type CapabilityName = keyof QueueCapabilities;

/** Dead letters (Q10). */
export interface DeadLetters {
  /** JSON of the rows, newest first, payloads byte for byte. */
  list(page: DeadListInput): Promise<Uint8Array>;
  /** Resolves with how many were moved; without an id, those that are dead now, oldest first. */
  redrive(queue: string, id?: string, payload?: Uint8Array): Promise<number>;
  discard(queue: string, id?: string): Promise<number>;
}

export interface TopicStore {
  /** A copy for every target, or none: durable when this resolves. Rejects with a `Refusal`. */
  publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void>;
  subscriptions(): Promise<readonly StoredSubscription[]>;
  /** With `leftMs`: its worker left, and may reconnect. */
  subscribe(subscription: StoredSubscription): Promise<void>;
  unsubscribe(topic: string, functionId: string): Promise<void>;
  /** Moves what was kept for the first subscriber into its queue. */
  handKeptTo(from: string, to: string, functionId: string, rules: EnqueueRules): Promise<number>;
  /** The queue is no longer used; its resources are freed if it is empty. */
  forget(queue: string): Promise<void>;
}

export interface PublishTarget {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly functionId: string;
  readonly delayMs: number;
  /** There is no subscriber: the message is kept until there is one. */
  readonly isKept: boolean;
  /** The context of the publisher. */
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

export interface Pausing {
  /** Kept across restarts. Running jobs continue. */
  setPaused(queue: string, isPaused: boolean): Promise<void>;
}

export interface JobLookup {
  /** `groupField`: the field of the payload with the value of its group. */
  find(id: string, groupField?: string): Promise<JobRow | null>;
}

export interface JobList {
  page(input: JobsInput): Promise<JobsPage>;
  /** False: `JobsInput.text` is ignored, and the module looks for it in receipt and error. */
  readonly searchesPayloads: boolean;
}

export interface JobPayloads {
  /** As it was enqueued. */
  read(id: string): Promise<Uint8Array | undefined>;
}

/** The lines of FIFO groups. */
export interface GroupList {
  page(input: GroupsInput): Promise<GroupsPage>;
}

export interface Sharing {
  /** False: another engine may have got the claimed job meanwhile, because the broker took this engine for dead. */
  mayHandOver(queue: string, job: TakenJob): boolean;
  /** Functions that parked jobs wait for, whichever engine parked them; empty while no other engine uses the queue. */
  parkedElsewhere(queue: string): Promise<readonly string[]>;
}

/** A store that went back in time, for example to a backup (R7). */
export interface Recovery {
  /** Why no job is handed over; `undefined`: jobs are. */
  readonly trouble: string | undefined;
  /** What this engine remembers of jobs. */
  remembersBy(remembered: () => Iterable<RememberedJob>): void;
  recovery(): Promise<QueueRecovery>;
  /** Hands jobs over again, with or without those that engines remember as done. `undefined`: none are held back. */
  resume(remembered: 'discard' | 'run_again'): Promise<{ readonly discarded: number } | undefined>;
}

/** A job that runs on this engine, or that ended here. */
export interface RememberedJob {
  readonly id: string;
  readonly isDone: boolean;
  /** Of its hand-over; 0 if it ended. */
  readonly token: number;
}

export interface QueueRecovery {
  /** Absent: jobs are handed over. */
  readonly heldBackSinceMs: number | undefined;
  /** How many changes the store has forgotten; more, if other engines knew more. */
  readonly missing: number;
  /** In the store. */
  readonly jobs: number;
  readonly engines: readonly { readonly id: string; readonly hasReported: boolean }[];
  /** Jobs in the store that ran already, as far as an engine remembers: the first of them. */
  readonly again: readonly {
    readonly id: string;
    readonly queue: string;
    readonly functionId: string;
    readonly enqueuedMs: number;
    readonly isDone: boolean;
  }[];
  readonly againTotal: number;
}

/** The end of the sentence "The adapter … cannot". */
const REFUSED = {
  deadLetters: 'keep dead letters',
  topics: 'keep the messages of topics',
  pausing: 'pause a queue',
  jobLookup: 'look for a job by its receipt',
  jobList: 'list the jobs of a queue',
  payloads: 'show the payload of a job',
  groups: 'list the groups of a queue',
  idempotencyKeys: 'recognise an idempotency_key',
  priorities: 'give a job a priority',
  recovery: 'recover its queues: it does not notice a store that went back in time',
} as const;

type RefusedCapability = keyof typeof REFUSED;
type Named = QueueCapabilities & { readonly name: string };

/** The capability. Throws the refusal if the adapter lacks it. */
export function needed<Name extends RefusedCapability>(
  adapter: Named,
  capability: Name,
): NonNullable<QueueCapabilities[Name]> {
  const found: QueueCapabilities[Name] = adapter[capability];
  if (found === undefined || found === null) throw new Refusal('NOT_SUPPORTED', lackOf(adapter, capability));
  return found;
}

export function lackOf({ name }: Named, capability: RefusedCapability): string {
  return `The adapter ${name} cannot ${REFUSED[capability]}: it lacks the capability ${capability}`;
}

/** Why the adapter cannot take a job with these options. */
export function optionRefusal(
  adapter: Named,
  { idempotencyKey, priority = 0 }: Readonly<Pick<JobOptions, 'idempotencyKey' | 'priority'>>,
): EnqueueRefused | undefined {
  if (idempotencyKey !== undefined && adapter.idempotencyKeys === undefined) {
    return { reason: 'NOT_SUPPORTED', message: lackOf(adapter, 'idempotencyKeys') };
  }
  if (priority > 0 && adapter.priorities === undefined) {
    return { reason: 'NOT_SUPPORTED', message: lackOf(adapter, 'priorities') };
  }
  return undefined;
}

/** What `engine::queue::list` cannot show, by the names of its field `not_told`. */
export function unreportedBy(adapter: QueueCapabilities): readonly UnreportedDetail[] {
  const { jobList, waitCounts, attemptHistory, payloads, groups } = adapter;
  const details: UnreportedDetail[] = [];
  if (jobList === undefined) details.push('jobs');
  if (waitCounts === undefined) details.push('waits');
  if (attemptHistory === undefined) details.push('attempts');
  if (payloads === undefined) details.push('payloads');
  if (jobList?.searchesPayloads !== true) details.push('payload_search');
  if (groups === undefined) details.push('groups');
  return details;
}
