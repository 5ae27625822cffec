// What becomes of the settings of each module of `iii`.

import { isMap } from '../../core/config-fields/fields-check.ts';
import { fitWaits, heldWaitsMsMax } from '../../core/queue/waits.ts';
import type { ForeignEntry } from './entry.ts';
import { adapterNameOf } from './names.ts';

/** What an entry contributes to the rest of the file. */
export interface Contribution {
  /** Hosts, addresses and blocks for `outgoing.allow`. */
  readonly allow?: readonly string[];
}

type Rule = (entry: ForeignEntry) => Contribution | undefined;

const PRIVATE_BLOCKS = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

/** Applied in this order to the entries of the module. */
export const MODULE_RULES: Readonly<Record<string, Rule>> = {
  'svc-http': (entry) => {
    const why = 'svc has no such setting, and routes come from triggers only';
    for (const key of ['trigger_type', 'default_path']) entry.drop([key], why);
    return undefined;
  },
  'svc-observability': (entry) => {
    if (entry.has('log_level') && !entry.has('level')) {
      entry.set(['level'], entry.written('log_level'), { note: 'level was log_level' });
      entry.set(['log_level'], undefined, { note: '' });
    }
    entry.drop(['prometheus_port'], 'figures for Prometheus are at /metrics of the HTTP port');
    entry.drop(['worker_metrics'], 'the SDKs send the metrics of their processes without a setting');
    if (entry.setting('trace_storage', 'enabled') === false) {
      entry.drop(['trace_storage'], 'traces are kept in memory only, as enabled is false');
      return undefined;
    }
    entry.drop(['trace_storage', 'enabled'], 'the entry trace_storage itself switches it on');
    entry.drop(['trace_storage', 'memory_low_watermark_ratio'], 'memory_max_bytes is the only limit');
    entry.drop(['trace_storage', 'pending_max_age_seconds'], 'running spans are kept until their worker leaves');
    return undefined;
  },
  'svc-http-functions': (entry) => {
    const allow = allowedHosts(entry);
    entry.remove({
      note:
        'functions that are a URL need no module. They may reach any public host over https' +
        (allow.length === 0 ? '' : `, and what outgoing.allow lists`),
      isWarning: true,
    });
    return { allow };
  },
  'svc-queue': (entry) => {
    if (!entry.isDropIn || !/rabbitmq/i.test(adapterOf(entry))) return undefined;
    const queues = entry.setting('queue_configs');
    for (const name of isMap(queues) ? Object.keys(queues) : []) capWaits(entry, name);
    return undefined;
  },
  'svc-telemetry': (entry) => {
    entry.remove({ note: 'svc sends no usage data' });
    return undefined;
  },
  configuration: (entry) => {
    const note = 'svc reads its configuration from this file only, and has no functions configuration::*';
    entry.remove({ note, isWarning: true });
    return undefined;
  },
};

function adapterOf(entry: ForeignEntry): string {
  return String(entry.setting('adapter', 'name') ?? entry.setting('adapter', 'class'));
}

const CONSUMER_TIMEOUT_MS = 1_800_000;

/** `iii` accepts a fifo queue whose waits exceed the time that RabbitMQ leaves a job with its consumer (Q4). */
function capWaits(entry: ForeignEntry, name: string): void {
  const setting = (key: string): unknown => entry.setting('queue_configs', name, key);
  if (setting('type') !== 'fifo' || setting('backoff_max_ms') !== undefined) return;
  const [maxRetries, backoffMs] = [setting('max_retries') ?? 3, setting('backoff_ms') ?? 1_000];
  const timeoutMs = entry.setting('adapter', 'config', 'consumer_timeout_ms') ?? CONSUMER_TIMEOUT_MS;
  if (typeof maxRetries !== 'number' || typeof backoffMs !== 'number' || typeof timeoutMs !== 'number') return;
  if (!(maxRetries <= RETRIES_MAX)) return;
  const retry = { maxRetries, backoffMs, isExponential: true };
  const { waitMsMax } = fitWaits(retry, heldWaitsMsMax(timeoutMs));
  if (waitMsMax === undefined) return;
  const note =
    `the waits of the fifo queue '${name}' are limited to ${waitMsMax} ms each: all of them have to fit into two ` +
    `thirds of RabbitMQ's consumer_timeout of ${timeoutMs} ms, as the job is held meanwhile`;
  entry.set(['queue_configs', name, 'backoff_max_ms'], waitMsMax, { note, isWarning: true });
}

/** More are refused when the setting is checked. */
const RETRIES_MAX = 100;

/** Adapters that are written by class, or with settings that have another name here. */
export function translateAdapter(entry: ForeignEntry): void {
  const className = entry.setting('adapter', 'class');
  const name = typeof className === 'string' ? adapterNameOf(className) : undefined;
  if (name === undefined || entry.has('adapter', 'name')) return;
  entry.set(['adapter', 'name'], name, { note: `the adapter ${String(className)} is ${name}` });
  entry.set(['adapter', 'class'], undefined, { note: '' });
}

/** The commands of an entry of `iii-exec` as one; all but the last must succeed. */
export function startCommand(entry: ForeignEntry): string | undefined {
  const commands = entry.written('exec');
  const texts = Array.isArray(commands) ? commands.filter((command) => typeof command === 'string') : [];
  return texts.length === 0 ? undefined : texts.join(' && ');
}

function allowedHosts(entry: ForeignEntry): string[] {
  const list = entry.setting('security', 'url_allowlist');
  const listed = Array.isArray(list) ? list.filter((host) => typeof host === 'string') : ['*'];
  const blocksPrivate = entry.setting('security', 'block_private_ips') !== false;
  const requiresHttps = entry.setting('security', 'require_https') !== false;
  if (blocksPrivate && requiresHttps) return [];
  const named = listed.map(hostOf).filter((host) => !host.includes('*') && host !== '');
  return listed.includes('*') && !blocksPrivate ? [...PRIVATE_BLOCKS, ...named] : named;
}

/** `https://api.example.com/*` names the host only. */
function hostOf(pattern: string): string {
  return pattern.replace(/^\w+:\/\//, '').replace(/[/:].*$/, '');
}

export function isEntry(value: unknown): value is Readonly<Record<string, unknown>> {
  return isMap(value) && !Object.hasOwn(value, 'path');
}
