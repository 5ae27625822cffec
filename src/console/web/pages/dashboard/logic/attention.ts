// The problems that need attention, worst first (DSH-4). Pure: answers of the engine in, lines with their links out.

import type { QueueRow } from '../../../../api/queues.ts';
import type { FunctionRow, TriggerRow, WorkerRow } from '../../../../api/registry.ts';
import type { Config, Status } from '../../../../api/system.ts';
import type { AlertRow } from '../../../../api/telemetry.ts';
import { formatCountOf } from '../../../kit/charts/times.ts';

export interface Attention {
  readonly key: string;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly note: string;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

/** Answers that could not be read are left out: a module that is not loaded has no problems. */
export interface AttentionInput {
  readonly status?: Status | undefined;
  readonly alerts?: readonly AlertRow[] | undefined;
  readonly queues?: readonly QueueRow[] | undefined;
  readonly triggers?: readonly TriggerRow[] | undefined;
  readonly functions?: readonly FunctionRow[] | undefined;
  readonly workers?: readonly WorkerRow[] | undefined;
  readonly reload?: Config['last_reload'] | undefined;
}

const ERROR_RATE_MAX = 0.05;

/** In the order of the specification. Within one kind the larger problem comes first. */
export function attentionOf(facts: AttentionInput): Attention[] {
  return [
    ...alertLines(facts),
    ...deadLetterLines(facts),
    ...triggerLines(facts),
    ...functionLines(facts),
    ...workerLines(facts),
    ...engineLines(facts),
  ];
}

function alertLines({ alerts = [] }: AttentionInput): Attention[] {
  return alerts
    .filter(({ firing }) => firing)
    .map(({ name, metric, operator, threshold, current_value }) => ({
      key: `alert ${name}`,
      tone: 'bad',
      title: `The alert "${name}" is firing`,
      note: `${metric} is ${current_value ?? 'unknown'}, the rule is ${operator} ${threshold}`,
      to: '/config',
      search: { tab: 'alerts' },
    }));
}

function deadLetterLines({ queues = [] }: AttentionInput): Attention[] {
  return queues
    .filter(({ dead }) => dead > 0)
    .toSorted((a, b) => b.dead - a.dead)
    .map(({ name, dead }) => ({
      key: `dead ${name}`,
      tone: 'bad',
      title: `${formatCountOf(dead, 'dead letter')} in ${name}`,
      note: 'Failed jobs that can be redriven or purged',
      to: '/queues',
      search: { queue: name, tab: 'dead' },
    }));
}

function triggerLines({ triggers = [] }: AttentionInput): Attention[] {
  return triggers
    .filter(({ status }) => status === 'Error')
    .map(({ id, trigger_type, config_summary, function_id, reason }) => ({
      key: `trigger ${id}`,
      tone: 'bad',
      title: `Trigger ${trigger_type} ${config_summary} is in error`,
      note: reason ?? `It is bound to ${function_id}`,
      to: '/triggers',
      search: { id },
    }));
}

function functionLines({ functions = [] }: AttentionInput): Attention[] {
  return functions
    .filter(({ figures }) => (figures?.error_rate ?? 0) > ERROR_RATE_MAX && (figures?.calls_per_minute ?? 0) > 0)
    .toSorted((a, b) => (b.figures?.error_rate ?? 0) - (a.figures?.error_rate ?? 0))
    .map(({ function_id, figures }) => ({
      key: `function ${function_id}`,
      tone: 'bad',
      title: `${function_id} fails ${Math.round((figures?.error_rate ?? 0) * 100)} % of its calls`,
      note: figures?.last_error ?? 'Within the last five minutes',
      to: '/functions',
      search: { id: function_id, tab: 'overview' },
    }));
}

function workerLines({ workers = [] }: AttentionInput): Attention[] {
  return workers
    .filter(({ internal, status, reconnects }) => !internal && (status === 'disconnected' || reconnects > 0))
    .map(({ id, name, status, reconnects }) => ({
      key: `worker ${id}`,
      tone: 'warn',
      title: status === 'disconnected' ? `Worker ${name} is gone` : `Worker ${name} has reconnected`,
      note: reconnects > 0 ? `${times(reconnects)} within the last hour` : 'It left within the last hour',
      to: '/workers',
      search: { id },
    }));
}

function times(count: number): string {
  return count === 1 ? 'once' : formatCountOf(count, 'time');
}

function engineLines({ status, reload }: AttentionInput): Attention[] {
  const lines: Attention[] = [];
  if (status !== undefined && status.overload_level > 0) {
    const note = status.overload_reasons.join(', ');
    lines.push({ key: 'overload', tone: 'bad', title: `Overload level ${status.overload_level}`, note, ...CONFIG });
  }
  const dropped = status?.telemetry.dropped ?? 0;
  if (dropped > 0) {
    const note = 'Spans, logs or metric points, since the start: the observability module reached its limits';
    lines.push({
      key: 'drops',
      tone: 'warn',
      title: `${formatCountOf(dropped, 'record')} dropped`,
      note,
      ...CONFIG,
    });
  }
  if (reload?.ok === false) {
    lines.push({
      key: 'reload',
      tone: 'bad',
      title: 'The last change of the configuration was refused',
      note: reload.message,
      to: '/config',
      search: { tab: 'configuration' },
    });
  }
  return lines;
}

const CONFIG = { to: '/config', search: {} };
