// The trigger type `log`: fires for every log record that is kept, from any source.
//
// Handlers run in the background, unordered. A trigger that is slower than the records come skips some, which is
// counted and logged once a minute. Logs that a firing causes carry a mark, so that they fire nothing (O3).

import { fields, optional, text } from '../../core/config-fields/fields.ts';
import { Groups } from '../../core/registry/groups.ts';
import { distinctBindings } from '../../core/registry/trigger-table.ts';
import type { SeverityText } from '../../core/telemetry/records/records.ts';
import { LOG_LEVELS, type LogLevel } from '../../core/telemetry/records/records.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Random } from '../../effects/random.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, ModuleTriggerType } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { trustedFirst } from '../../router/restricted/reach.ts';
import type { LogFiring } from '../../telemetry/tasks.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';

const config = fields({ level: optional(text({ bytesMax: 16 })), condition_function_id: CONDITION_FIELD });

const CONFIG_FORMAT = rawJson({
  type: 'object',
  properties: {
    level: { enum: [...LOG_LEVELS, 'all'], description: 'Only records of exactly this level, in any case' },
    condition_function_id: { type: 'string', description: 'Called first; on false the function is not called' },
  },
  additionalProperties: false,
});

const PAYLOAD_FORMAT = rawJson({
  type: 'object',
  properties: {
    timestamp_unix_nano: { type: 'number' },
    observed_timestamp_unix_nano: { type: 'number' },
    severity_number: { type: 'number', description: '1 to 24' },
    severity_text: { enum: ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] },
    body: { type: 'string' },
    attributes: { type: 'object' },
    trace_id: { type: ['string', 'null'] },
    span_id: { type: ['string', 'null'] },
    resource: { type: 'object' },
    service_name: { type: 'string' },
    instrumentation_scope_name: { type: 'string' },
    instrumentation_scope_version: { type: 'string' },
  },
});

/** The limit of open firings of one binding; beyond it the binding skips records. */
const AWAY_MAX = 256;
const HANDLER_MS_MAX = 30_000;
const WARN_EVERY_MS = 60_000;

export interface LogTriggersOptions {
  readonly router: Pick<RouterPort, 'fireOne' | 'count' | 'quietTraces'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface Subscriber {
  readonly level: SeverityText | undefined;
  away: number;
  warnedMs: number | undefined;
}

export class LogTriggers implements ModuleTriggerType {
  readonly id = 'log';
  readonly spec = {
    description: 'Fires for every log record that is kept',
    configFormat: CONFIG_FORMAT,
    payloadFormat: PAYLOAD_FORMAT,
  };
  readonly #options: LogTriggersOptions;
  readonly #subscribers = new Map<Binding, Subscriber>();
  readonly #byLevel = new Groups<SeverityText, Binding>();
  readonly #ofAll = new Set<Binding>();
  #wanted: readonly SeverityText[] = [];

  constructor(options: LogTriggersOptions) {
    this.#options = options;
  }

  /** The levels that at least one binding listens to. */
  get wanted(): readonly SeverityText[] {
    return this.#wanted;
  }

  refuse(given: unknown): string | undefined {
    const read = readTriggerConfig(this.id, config, given);
    if (!read.ok) return read.reason;
    const { level } = read.config;
    if (level === undefined || isAll(level) || levelOf(level) !== undefined) return undefined;
    return `The config.level of the log trigger must be one of ${LOG_LEVELS.join(', ')} or all, found '${level}'`;
  }

  bound(binding: Binding, given: unknown): void {
    const read = readTriggerConfig(this.id, config, given);
    if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
    const level = levelOf(read.config.level ?? 'all');
    this.#subscribers.set(binding, { level, away: 0, warnedMs: undefined });
    if (level === undefined) this.#ofAll.add(binding);
    else this.#byLevel.add(level, binding);
    this.#lookAgain();
  }

  unbound(binding: Binding): void {
    const subscriber = this.#subscribers.get(binding);
    if (subscriber === undefined) return;
    this.#subscribers.delete(binding);
    if (subscriber.level === undefined) this.#ofAll.delete(binding);
    else this.#byLevel.remove(subscriber.level, binding);
    this.#lookAgain();
  }

  fire(firings: readonly LogFiring[]): void {
    for (const { level, json } of firings) {
      const bindings = distinctBindings(trustedFirst([...this.#ofAll, ...this.#byLevel.of(level)]));
      for (const binding of bindings) this.#fireOne(binding, json);
    }
  }

  #fireOne(binding: Binding, json: Uint8Array): void {
    const subscriber = this.#subscribers.get(binding);
    if (subscriber === undefined) return;
    if (subscriber.away >= AWAY_MAX) return this.#skip(binding, subscriber);
    subscriber.away++;
    const { router, random } = this.#options;
    const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
    const limits = { ...router.quietTraces.cause(random.token()), timeoutMs: HANDLER_MS_MAX };
    router.fireOne(binding, Payload.ofBytes(bytes, 0, bytes.length), limits, () => {
      subscriber.away--;
    });
  }

  #skip(binding: Binding, subscriber: Subscriber): void {
    const { router, clock, logger } = this.#options;
    router.count('telemetry.dropped', 'logs,slow_trigger');
    const nowMs = clock.monotonicMs();
    if (subscriber.warnedMs !== undefined && nowMs - subscriber.warnedMs < WARN_EVERY_MS) return;
    subscriber.warnedMs = nowMs;
    const text = 'A log trigger is too slow for the logs and skips records';
    logger.warn(text, { trigger_type: this.id, function_id: binding.functionId, waiting_max: AWAY_MAX });
  }

  #lookAgain(): void {
    const isWanted = (level: SeverityText): boolean => this.#ofAll.size > 0 || this.#byLevel.of(level).size > 0;
    this.#wanted = ALL_LEVELS.filter(isWanted);
  }
}

const ALL_LEVELS: readonly SeverityText[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

const TEXTS: Readonly<Record<LogLevel, SeverityText>> = {
  trace: 'TRACE',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARN',
  error: 'ERROR',
};

function levelOf(word: string): SeverityText | undefined {
  const level = LOG_LEVELS.find((known) => known === word.toLowerCase());
  return level && TEXTS[level];
}

function isAll(word: string): boolean {
  return word.toLowerCase() === 'all';
}
