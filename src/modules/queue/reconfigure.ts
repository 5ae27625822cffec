// A reload with other queues: which are added, changed and removed (K1, K4).
//
// Everything that can fail is done before the reload is accepted: a new queue is opened. A removed queue hands over
// nothing more; its jobs stay, and outcomes of running ones are recorded as usual.

import { isDeepStrictEqual } from 'node:util';
import { isNamedQueue } from '../../core/queue/queue-names.ts';
import type { QueueStats } from '../../core/queue/shapes.ts';
import type { Logger } from '../../effects/logger.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Reconfiguration } from '../module.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import { lackOf } from './adapters/capabilities.ts';
import { configuredQueues, type QueueModuleConfig, type QueueSettings } from './config.ts';
import type { Queues } from './queues.ts';

export interface ReconfigureContext {
  readonly queues: Queues;
  readonly adapter: QueueAdapter;
  readonly router: Pick<RouterPort, 'queuesChanged' | 'judgeQueue'>;
  readonly logger: Logger;
}

interface Difference {
  readonly added: readonly QueueSettings[];
  readonly changed: readonly QueueSettings[];
  readonly removed: readonly string[];
}

export async function reconfigureQueues(
  context: ReconfigureContext,
  before: QueueModuleConfig,
  after: QueueModuleConfig,
): Promise<Reconfiguration> {
  const { queues, adapter, router, logger } = context;
  const difference = differenceOf(queues, after);
  const reasons = [
    ...offencesOf(adapter, before, after, queues),
    ...groupOffences(router, difference),
    ...[...difference.added, ...difference.changed].flatMap((settings) => priorityLack(adapter, settings) ?? []),
  ];
  if (reasons.length > 0) return { ok: false, reason: reasons.join('; ') };
  const parked = new Map<string, readonly string[]>();
  try {
    for (const settings of difference.added) {
      const opened = await openQueue(context, settings);
      if (typeof opened === 'string') return { ok: false, reason: opened };
      parked.set(settings.name, opened);
    }
    const kept = new Map((await adapter.stats()).map((stats) => [stats.queue, stats]));
    return {
      ok: true,
      changes: wordsOf(difference, kept),
      commit() {
        for (const settings of difference.added) {
          const runner = queues.add(settings);
          runner.noteParked(parked.get(settings.name) ?? []);
          runner.nudge();
        }
        for (const settings of difference.changed) queues.configure(settings);
        for (const name of difference.removed) {
          queues.remove(name);
          const stats = kept.get(name);
          if (stats !== undefined) logForgotten(logger, stats);
        }
        router.queuesChanged();
      },
    };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A queue that the file no longer names keeps its jobs (K4). */
export function logForgotten(logger: Logger, stats: QueueStats): void {
  const [jobs, dead] = countsOf(stats);
  if (jobs + dead === 0) return;
  logger.warn('A queue that is no longer configured keeps its jobs until it is configured again', {
    queue: stats.queue,
    jobs,
    dead_letters: dead,
  });
}

export function kindRefusal(name: string, isFifo: boolean): string {
  const [was, is] = isFifo ? ['standard', 'fifo'] : ['fifo', 'standard'];
  const text = `The queue '${name}' is ${was} and holds jobs: it cannot become ${is} until it is empty`;
  return `${text}. Set its type back, let its jobs end and purge its dead letters`;
}

/** Why the adapter cannot use the priorities of the queue. */
export function priorityLack(adapter: QueueAdapter, { name, rules }: QueueSettings): string | undefined {
  if (rules.priorityField === undefined || adapter.priorities !== undefined) return undefined;
  return `queue_configs.${name}.priority_field is invalid: ${lackOf(adapter, 'priorities')}`;
}

export function groupRefusal(name: string, offence: string): string {
  return `queue_configs.${name}.message_group_field is invalid: ${offence}`;
}

function differenceOf(queues: Queues, after: QueueModuleConfig): Difference {
  const wanted = configuredQueues(after);
  const running = queues.all.map(({ settings }) => settings).filter(({ name }) => isNamedQueue(name));
  return {
    added: wanted.filter(({ name }) => queues.find(name) === undefined),
    changed: wanted.filter((settings) => {
      const now = queues.find(settings.name)?.settings;
      return now !== undefined && !isDeepStrictEqual(now, settings);
    }),
    removed: running.map(({ name }) => name).filter((name) => wanted.every((settings) => settings.name !== name)),
  };
}

const LATER = 'can only change with a new start of the engine';

function offencesOf(
  adapter: QueueAdapter,
  before: QueueModuleConfig,
  after: QueueModuleConfig,
  queues: Queues,
): string[] {
  const fixed = (['max_payload_bytes', 'topic_unroutable_ttl_ms'] as const).filter((key) => before[key] !== after[key]);
  const offences = fixed.map((key) => `${key} ${LATER}`);
  if (adapter.liveSettings === undefined && !isDeepStrictEqual(before.queue_configs, after.queue_configs)) {
    return [...offences, `queue_configs ${LATER} while ${adapter.name} keeps the jobs`];
  }
  const kinds = configuredQueues(after).filter(({ name, isFifo }) => {
    const now = queues.find(name)?.settings;
    return now !== undefined && now.isFifo !== isFifo;
  });
  return [...offences, ...kinds.map(({ name }) => `queue_configs.${name}.type ${LATER}`)];
}

/** If a queue groups by a field that no event has, every watched change of its triggers would be refused. */
function groupOffences(router: ReconfigureContext['router'], { added, changed }: Difference): string[] {
  return [...added, ...changed].flatMap(({ name, rules }) => {
    const offence = router.judgeQueue(name, rules);
    return offence === undefined ? [] : groupRefusal(name, offence);
  });
}

/** The functions that its jobs wait for, or why it is not available. */
async function openQueue(
  { queues, adapter }: ReconfigureContext,
  settings: QueueSettings,
): Promise<readonly string[] | string> {
  const { name, isFifo } = settings;
  const asleep = queues.removed(name);
  // Opened in this run already: its running jobs must not be taken for jobs of the last run.
  if (asleep?.settings.isFifo === isFifo) return [];
  if (asleep !== undefined && !asleep.isQuiet) return `The queue '${name}' still runs jobs of its other type`;
  const opened = await adapter.open(name, settings);
  return opened.isRefused ? kindRefusal(name, isFifo) : opened.parkedFunctions;
}

function wordsOf({ added, changed, removed }: Difference, kept: ReadonlyMap<string, QueueStats>): string[] {
  return [
    ...added.map(({ name }) => `queue '${name}' added`),
    ...changed.map(({ name }) => `queue '${name}' changed`),
    ...removed.map((name) => {
      const stats = kept.get(name);
      const [jobs, dead] = stats === undefined ? [0, 0] : countsOf(stats);
      const left = jobs + dead === 0 ? '' : `; it keeps ${counted(jobs, 'job')} and ${counted(dead, 'dead letter')}`;
      return `queue '${name}' removed${left}`;
    }),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function countsOf({ fresh, ready, blocked, delayed, retrying, parked, running, dead }: QueueStats): [number, number] {
  return [fresh + ready + blocked + delayed + retrying + parked + running, dead];
}
