import { Refusal } from '../../../core/calls/refusal.ts';
import { compileRegex, type TextMatcher } from '../../../core/telemetry/logs/log-expression.ts';
import { SearchBudget } from '../../../core/telemetry/logs/search-budget.ts';
import { type EngineConnection, follow, withEngine } from '../../engine/connection.ts';
import { timeRangeFlags } from '../../engine/listing.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import { logLine, timeOf } from './log-lines.ts';
import { timeRange } from './trace-list.ts';

const FLAGS = {
  follow: { kind: 'switch', short: 'f', help: 'Keep running and print new entries.' },
  service: { kind: 'text', placeholder: '<text>', help: 'Only services whose name contains the text.' },
  level: {
    kind: 'choice',
    placeholder: '<level>',
    choices: ['trace', 'debug', 'info', 'warn', 'error'],
    help: 'Only this level and more severe ones.',
  },
  grep: { kind: 'text', placeholder: '<regex>', help: 'Only entries whose message or attributes match.' },
  trace: { kind: 'text', placeholder: '<id>', help: 'Only entries of this trace.' },
  function: { kind: 'text', placeholder: '<id>', help: 'Only entries written by this function.' },
  ...timeRangeFlags('entries'),
  limit: {
    kind: 'count',
    short: 'n',
    placeholder: '<n>',
    min: 0,
    max: 100_000,
    fallback: '200',
    help: 'Number of existing entries to print, the newest ones.',
  },
  fields: { kind: 'text', placeholder: '<a,b>', help: 'Attributes to print after the message. Default: all.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type LogsContext = Context<typeof FLAGS>;

const SEVERITY_MIN = { trace: 1, debug: 5, info: 9, warn: 13, error: 17 } as const;
/** Records have up to 16 KiB, and a page has to fit into one answer. */
const PAGE = 500;
const POLL_MS = 500;
/** Workers send their log entries in batches. */
const OVERLAP_MS = 10_000;

export const logs = defineCommand({
  name: 'logs',
  summary: 'Show the log of the engine and of all workers, newest last.',
  details: [
    'With -f it runs until interrupted, reconnects after a lost connection, and prints a line where entries may ' +
      'be missing. With --plain, tabs separate time, level, service, trace, message and attributes. With --json, ' +
      'one object per line.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc logs -f --level warn', shows: 'Warnings and errors as they happen.' },
    { line: 'svc logs --function orders::create --since 15m', shows: 'Recent entries of one function.' },
    { line: "svc logs --grep 'sku-\\d+' --fields order_id", shows: 'Matching entries, with one attribute.' },
    {
      line: 'svc logs --trace 4bf92f3577b34da6a3ce929d0e0e4736 --json',
      shows: 'The entries of a trace, for a script.',
    },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const wanted = readFilter(context);
    const { flags, output } = context;
    if (flags.follow && flags.until !== undefined) throw usageFailure('--follow and --until exclude each other.');
    if (!flags.follow) {
      const found = await withEngine(context, (engine) => newest(engine, wanted, flags.limit));
      for (const log of found) print(context, log);
      if (found.length === 0) output.note('No log entry matches.');
      return EXIT.done;
    }
    const tail = new Tail(context, wanted);
    return await follow(context, POLL_MS, (engine) => tail.poll(engine));
  },
});

interface Filter {
  /** The filter of the engine. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The filter that is applied here. Fails when `--grep` costs more than one read may. */
  matcher(): (log: JsonRecord) => boolean;
}

function readFilter({ flags, terminal }: LogsContext): Filter {
  const pattern = flags.grep === undefined ? undefined : readPattern(flags.grep);
  const service = flags.service?.toLowerCase();
  if (flags.trace !== undefined && !/^[\da-f]{32}$/i.test(flags.trace)) {
    throw usageFailure(`--trace is '${flags.trace}': expected the full id, 32 hexadecimal digits.`);
  }
  return {
    query: {
      ...(flags.level === undefined ? {} : { severity_min: SEVERITY_MIN[flags.level] }),
      ...(flags.trace === undefined ? {} : { trace_id: flags.trace.toLowerCase() }),
      ...timeRange(flags, terminal.now()),
    },
    matcher() {
      const budget = new SearchBudget(undefined, ADVICE);
      return (log) => {
        budget.next();
        return (
          (service === undefined || textIn(log, 'service_name').toLowerCase().includes(service)) &&
          (flags.function === undefined || isOfFunction(log, flags.function)) &&
          (pattern === undefined || doesMatch(pattern, log, budget))
        );
      };
    },
  };
}

const ADVICE = 'Give --since, --level, --service, --function or --trace, or use a simpler expression';

function doesMatch(pattern: TextMatcher, log: JsonRecord, budget: SearchBudget): boolean {
  try {
    return pattern(`${textIn(log, 'body')} ${JSON.stringify(log.attributes ?? {})}`, budget);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new CliFailure({ code: error.code, message: error.message, exitCode: EXIT.failed });
  }
}

/** Uses the expressions of log search, which take linear time (PD-48). */
function readPattern(text: string): TextMatcher {
  const compiled = compileRegex(text, false);
  if (typeof compiled === 'string') throw usageFailure(`--grep is '${text}': ${compiled}.`);
  return compiled.matches;
}

/** Entries without a service get the calling function as their service. */
function isOfFunction(log: JsonRecord, functionId: string): boolean {
  const attributes = isRecord(log.attributes) ? log.attributes : {};
  return textIn(log, 'service_name') === functionId || textIn(attributes, 'function_id') === functionId;
}

/** The newest entries that match, oldest first; reads as many pages as needed. */
async function newest(engine: EngineConnection, { query, matcher }: Filter, count: number): Promise<JsonRecord[]> {
  const found: JsonRecord[] = [];
  const matches = matcher();
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
    isPlain: output.plain,
    paint: output.paintOut,
    timeStyle: output.timeStyle,
    nowMs: terminal.now(),
    fields: flags.fields?.split(',').map((name) => name.trim()),
  });
  terminal.out.write(`${line}\n`);
}

/**
 * New entries since the last read. Workers send their entries with a delay, so the last seconds are read again and
 * known entries are left out. When the newest known entry is missing from the answer, the engine has dropped it and
 * perhaps others: it restarted, its log was cleared, or more entries arrive than it keeps.
 */
class Tail {
  readonly #context: LogsContext;
  readonly #filter: Filter;
  /** Entries of the last seconds, by when they were written. */
  readonly #known = new Map<string, number>();
  #newest: { key: string; timeMs: number } | undefined;
  #sinceMs: number;
  #hasStarted = false;

  constructor(context: LogsContext, filter: Filter) {
    this.#context = context;
    this.#filter = filter;
    this.#sinceMs = context.terminal.now() - OVERLAP_MS;
  }

  async poll(engine: EngineConnection): Promise<void> {
    const recent = await since(engine, this.#filter, this.#sinceMs);
    if (!this.#hasStarted) return await this.#start(engine, recent);
    const { key } = this.#newest ?? {};
    if (key !== undefined && !recent.some((log) => keyOf(log) === key)) {
      this.#newest = undefined;
      this.#context.output.warn('The engine has dropped earlier entries: some may be missing here.');
    }
    const fresh = recent.filter((log) => !this.#known.has(keyOf(log)));
    const matches = this.#filter.matcher();
    for (const log of fresh) if (matches(log)) print(this.#context, log);
    this.#remember(fresh);
  }

  async #start(engine: EngineConnection, recent: readonly JsonRecord[]): Promise<void> {
    const { flags, output } = this.#context;
    this.#hasStarted = true;
    const shown = await newest(engine, this.#filter, flags.limit);
    for (const log of shown) print(this.#context, log);
    this.#remember([...recent, ...shown]);
    output.note(`Following the logs at ${engine.address}. Stop with Ctrl-C.`);
  }

  #remember(logs: readonly JsonRecord[]): void {
    for (const log of logs) {
      const [key, timeMs] = [keyOf(log), timeOf(log)];
      this.#known.set(key, timeMs);
      if (timeMs >= (this.#newest?.timeMs ?? 0)) this.#newest = { key, timeMs };
    }
    // The newest entry is always read again, even when it is old.
    const nowMs = this.#context.terminal.now();
    this.#sinceMs = Math.floor(Math.min(nowMs, this.#newest?.timeMs ?? nowMs)) - OVERLAP_MS;
    for (const [key, timeMs] of this.#known) if (timeMs < this.#sinceMs) this.#known.delete(key);
  }
}

/** Everything since that time, oldest first. */
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
  const parts = ['engine', 'log_id', 'timestamp_unix_nano', 'observed_timestamp_unix_nano', 'span_id', 'body'];
  return parts.map((name) => textIn(log, name)).join('\0');
}
