import { compileRegex } from '../../core/telemetry/log-query.ts';
import { type Context, defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { follow } from '../follow.ts';
import { logLine, timeOf } from '../log-lines.ts';
import { momentOf } from '../moments.ts';
import { isRecord, type JsonRecord, recordsIn, textIn } from '../records.ts';

const FLAGS = {
  follow: { kind: 'switch', short: 'f', help: 'Go on with what is written from now on.' },
  service: { kind: 'text', placeholder: '<text>', help: 'Only services whose name contains the text.' },
  level: {
    kind: 'choice',
    placeholder: '<level>',
    choices: ['trace', 'debug', 'info', 'warn', 'error'],
    help: 'Only this level and what is more severe.',
  },
  grep: { kind: 'text', placeholder: '<regex>', help: 'Only entries whose message or attributes match.' },
  trace: { kind: 'text', placeholder: '<id>', help: 'Only entries of this trace.' },
  function: { kind: 'text', placeholder: '<id>', help: 'Only entries written by this function.' },
  since: { kind: 'text', placeholder: '<time>', help: 'Only entries since then: 15m, an ISO time, Unix ms.' },
  number: {
    kind: 'count',
    short: 'n',
    placeholder: '<n>',
    min: 0,
    max: 100_000,
    fallback: '200',
    help: 'The newest so many of what is there already.',
  },
  fields: { kind: 'text', placeholder: '<a,b>', help: 'Only these attributes behind the message; without it all.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type LogsContext = Context<typeof FLAGS>;

const SEVERITY_MIN = { trace: 1, debug: 5, info: 9, warn: 13, error: 17 } as const;
const PAGE = 1_000;
const LOOK_MS = 500;
/** Workers send what they log in batches. */
const OVERLAP_MS = 10_000;

export const logs = defineCommand({
  name: 'logs',
  summary: 'Show what workers and engine have logged, the newest last.',
  details: [
    'With -f it runs until it is interrupted: a broken connection is made again, and a line says where entries have ' +
      'been missed. In a pipe: tabs between time, level, service, trace, message and attributes. With --json, one ' +
      'object per line.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc logs -f --level warn', shows: 'Warnings and errors as they happen.' },
    { line: 'svc logs --function orders::create --since 15m', shows: 'What one function wrote lately.' },
    { line: "svc logs --grep 'sku-\\d+' --fields order_id", shows: 'Entries that match, with one attribute.' },
    { line: 'svc logs --trace 4bf92f3577b34da6a3ce929d0e0e4736 --json', shows: 'Those of a trace, for a script.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const wanted = readFilter(context);
    const { flags, output } = context;
    if (!flags.follow) {
      const found = await withEngine(context, (engine) => newest(engine, wanted, flags.number));
      for (const log of found) print(context, log);
      if (found.length === 0) output.note('No log entry matches.');
      return EXIT.done;
    }
    const tail = new Tail(context, wanted);
    return await follow(context, LOOK_MS, (engine) => tail.look(engine));
  },
});

interface Filter {
  /** What the engine filters by. */
  readonly query: Readonly<Record<string, unknown>>;
  /** What is left to look at here. */
  matches(log: JsonRecord): boolean;
}

function readFilter({ flags, terminal }: LogsContext): Filter {
  const pattern = flags.grep === undefined ? undefined : readPattern(flags.grep);
  const service = flags.service?.toLowerCase();
  const startTime = momentOf('--since', flags.since, terminal.now());
  if (flags.trace !== undefined && !/^[\da-f]{32}$/i.test(flags.trace)) {
    throw usageFailure(`--trace is '${flags.trace}': expected the whole id, 32 hexadecimal digits.`);
  }
  return {
    query: {
      ...(flags.level === undefined ? {} : { severity_min: SEVERITY_MIN[flags.level] }),
      ...(flags.trace === undefined ? {} : { trace_id: flags.trace.toLowerCase() }),
      ...(startTime === undefined ? {} : { start_time: startTime }),
    },
    matches: (log) =>
      (service === undefined || textIn(log, 'service_name').toLowerCase().includes(service)) &&
      (flags.function === undefined || isOfFunction(log, flags.function)) &&
      (pattern === undefined || pattern(`${textIn(log, 'body')} ${JSON.stringify(log.attributes ?? {})}`)),
  };
}

/** In the language of log search, whose expressions take time linear in the text (decisions 48). */
function readPattern(text: string): (text: string) => boolean {
  const compiled = compileRegex(text, false);
  if (typeof compiled === 'string') throw usageFailure(`--grep is '${text}': ${compiled}.`);
  return compiled;
}

/** The engine takes the calling function for the service where the writer named none. */
function isOfFunction(log: JsonRecord, functionId: string): boolean {
  const attributes = isRecord(log.attributes) ? log.attributes : {};
  return textIn(log, 'service_name') === functionId || textIn(attributes, 'function_id') === functionId;
}

/** The newest entries that match, oldest first; pages back as far as it must. */
async function newest(engine: EngineConnection, { query, matches }: Filter, count: number): Promise<JsonRecord[]> {
  const found: JsonRecord[] = [];
  for (let offset = 0; found.length < count; offset += PAGE) {
    const answer = await engine.call('engine::logs::list', { ...query, offset, limit: PAGE });
    const page = recordsIn(answer, 'logs');
    found.push(...page.filter(matches));
    if (page.length < PAGE) break;
  }
  return found.slice(0, count).reverse();
}

function print({ flags, output, terminal }: LogsContext, log: JsonRecord): void {
  if (output.jsonAsked) return output.printLine(log);
  const line = logLine(log, {
    isTerminal: terminal.out.isTerminal,
    paint: output.paintOut,
    timeStyle: output.timeStyle,
    nowMs: terminal.now(),
    fields: flags.fields?.split(',').map((name) => name.trim()),
  });
  terminal.out.write(`${line}\n`);
}

/**
 * What came since the last look. Workers send their entries a little late, so the last seconds are asked for again and
 * what is known of them is left out. Where the newest known entry is not among the answers, the engine has forgotten
 * it, and perhaps others: it was started again, or cleared, or more is written than it keeps.
 */
class Tail {
  readonly #context: LogsContext;
  readonly #filter: Filter;
  /** Entries of the last seconds, by when they were written. */
  readonly #known = new Map<string, number>();
  #newest: { key: string; timeMs: number } | undefined;
  #sinceMs: number;
  #hasBegun = false;

  constructor(context: LogsContext, filter: Filter) {
    this.#context = context;
    this.#filter = filter;
    this.#sinceMs = context.terminal.now() - OVERLAP_MS;
  }

  async look(engine: EngineConnection): Promise<void> {
    const recent = await since(engine, this.#filter, this.#sinceMs);
    if (!this.#hasBegun) return await this.#begin(engine, recent);
    const { key } = this.#newest ?? {};
    if (key !== undefined && !recent.some((log) => keyOf(log) === key)) {
      this.#newest = undefined;
      this.#context.output.warn('The engine has forgotten earlier entries: some may be missing here.');
    }
    const fresh = recent.filter((log) => !this.#known.has(keyOf(log)));
    for (const log of fresh) if (this.#filter.matches(log)) print(this.#context, log);
    this.#remember(fresh);
  }

  async #begin(engine: EngineConnection, recent: readonly JsonRecord[]): Promise<void> {
    const { flags, output } = this.#context;
    this.#hasBegun = true;
    const shown = await newest(engine, this.#filter, flags.number);
    for (const log of shown) print(this.#context, log);
    this.#remember([...recent, ...shown]);
    output.note(`Following the logs at ${engine.address}. Ctrl-C ends it.`);
  }

  #remember(logs: readonly JsonRecord[]): void {
    for (const log of logs) {
      const [key, timeMs] = [keyOf(log), timeOf(log)];
      this.#known.set(key, timeMs);
      if (timeMs >= (this.#newest?.timeMs ?? 0)) this.#newest = { key, timeMs };
    }
    // The newest entry is always asked for again, also when it was written long ago.
    const nowMs = this.#context.terminal.now();
    this.#sinceMs = Math.floor(Math.min(nowMs, this.#newest?.timeMs ?? nowMs)) - OVERLAP_MS;
    for (const [key, timeMs] of this.#known) if (timeMs < this.#sinceMs) this.#known.delete(key);
  }
}

/** Everything since then, oldest first. */
async function since(engine: EngineConnection, { query }: Filter, startTime: number): Promise<JsonRecord[]> {
  const found: JsonRecord[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const answer = await engine.call('engine::logs::list', { ...query, start_time: startTime, offset, limit: PAGE });
    const page = recordsIn(answer, 'logs');
    found.push(...page);
    if (page.length < PAGE) return found.reverse();
  }
}

/** `log_id` counts within one run of the engine; older engines have none. */
function keyOf(log: JsonRecord): string {
  const parts = ['log_id', 'timestamp_unix_nano', 'observed_timestamp_unix_nano', 'span_id', 'body'];
  return parts.map((name) => textIn(log, name)).join('\0');
}
