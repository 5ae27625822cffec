import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { engineVersion } from '../../../effects/version.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { InternalOptions } from '../../../sdk/worker/options.ts';
import { callFailure } from '../../engine/call-failure.ts';
import { readToken, withEngine, withTlsOf } from '../../engine/connection.ts';
import { tlsOf } from '../../engine/tls.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord, textIn } from '../../text/records.ts';
import { type EngineUse, watchEngine, watchLoss } from './engine-watch.ts';
import { type LoadPlan, type LoadResult, runLoad } from './load.ts';
import {
  changesText,
  compare,
  differencesOf,
  type EarlierReport,
  type Report,
  reportCsv,
  reportText,
} from './report.ts';
import { KINDS, type Kind, moduleOf, prepare } from './stages.ts';

const HOUR_MS = 3_600_000;

const FLAGS = {
  clients: {
    kind: 'count',
    placeholder: '<n>',
    min: 1,
    max: 10_000,
    fallback: '10',
    help: 'Number of client connections.',
  },
  msgs: { kind: 'count', placeholder: '<n>', min: 1, max: 1e9, help: 'Stop after this number of operations.' },
  duration: { kind: 'duration', placeholder: '<time>', maxMs: HOUR_MS, fallback: '10s', help: 'Stop after this time.' },
  size: { kind: 'text', placeholder: '<size>', fallback: '128B', help: 'Size of a payload: 128B, 4KiB, 1MB.' },
  rate: { kind: 'text', placeholder: '<n/s>', help: 'Operations per second of all clients. Without it: no limit.' },
  function: { kind: 'text', placeholder: '<id>', help: 'Call this function instead of a built-in echo.' },
  warmup: {
    kind: 'duration',
    placeholder: '<time>',
    minMs: 0,
    maxMs: HOUR_MS,
    fallback: '2s',
    help: 'Time at the start that is not measured.',
  },
  workers: { kind: 'count', placeholder: '<n>', min: 1, max: 64, fallback: '1', help: 'Number of echo workers.' },
  subscribers: {
    kind: 'count',
    placeholder: '<n>',
    min: 1,
    max: 10_000,
    fallback: '100',
    help: 'Number, for stream-fanout.',
  },
  csv: { kind: 'text', placeholder: '<file>', help: 'Write operations and rate of each client to this file.' },
  hdr: { kind: 'text', placeholder: '<file>', help: 'Write the latency distribution to this file.' },
  compare: { kind: 'text', placeholder: '<file>', help: 'Compare with an earlier run that was saved with --json.' },
  tolerance: {
    kind: 'text',
    placeholder: '<percent>',
    fallback: '10%',
    help: 'How much worse than the earlier run is accepted.',
  },
  'threads-sweep': {
    kind: 'switch',
    help: 'Measure engines of its own with 1, 2, 4 … router threads, and recommend a number.',
  },
  'no-progress': { kind: 'switch', help: 'Do not show progress on stderr. Shown on a terminal only.' },
  'http-url': {
    kind: 'text',
    placeholder: '<address>',
    env: 'SVC_HTTP_URL',
    fallback: 'http://127.0.0.1:3111',
    help: 'HTTP address of the engine, for http.',
  },
  'stream-url': { kind: 'text', placeholder: '<address>', help: 'Stream server, for stream-fanout.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type BenchContext = Context<typeof FLAGS>;

export const bench = defineCommand({
  name: 'bench',
  summary: 'Measure how fast the engine performs one kind of operation.',
  details: [
    `Kinds: ${KINDS.join(', ')}.`,
    'Creates its own worker, scope, stream, topic and route, and removes them. Clients and workers run in this ' +
      'process, so one core limits the result. With --rate, an operation that starts late is measured from its ' +
      'scheduled start.',
  ],
  operands: { usage: '<kind>', min: 1, max: 1, help: 'What to measure.', choices: KINDS },
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc bench invoke --clients 50 --size 256B', shows: 'Calls, as fast as possible.' },
    { line: 'svc bench state-set --rate 1000/s --json > old.json', shows: 'At a steady rate; saves the result.' },
    { line: 'svc bench invoke --threads-sweep', shows: 'How many router threads pay off on this machine.' },
    { line: 'svc bench state-set --rate 1000/s --compare old.json', shows: 'Exit code 1 when it is worse.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  handlesSignals: true,
  async run(context) {
    const { flags, output, terminal, operands } = context;
    const kind = KINDS.find((one) => one === operands[0]);
    if (kind === undefined)
      throw usageFailure(`There is no benchmark '${operands[0]}'.`, `One of: ${KINDS.join(', ')}`);
    if (flags['threads-sweep']) return await sweep(kind, context);
    const tolerance = readTolerance(flags.tolerance);
    const earlier = flags.compare === undefined ? undefined : await readEarlier(kind, flags.compare, terminal.cwd);
    const { report, distribution } = await measure(kind, context);
    const changes = earlier === undefined ? [] : compare(earlier, report, tolerance);
    const text = changes.length === 0 ? reportText(report) : `${reportText(report)}\n${changesText(changes)}`;
    output.printDocument(changes.length === 0 ? report : { ...report, changes }, text);
    const differences = earlier === undefined ? [] : differencesOf(earlier, report);
    if (differences.length > 0)
      output.warn(`${flags.compare} was measured with other parameters: ${differences.join(', ')}.`);
    // After the result is printed: a file that cannot be written must not lose the result.
    if (flags.csv !== undefined) await writeFile(resolve(terminal.cwd, flags.csv), reportCsv(report));
    if (flags.hdr !== undefined) await writeFile(resolve(terminal.cwd, flags.hdr), distribution);
    if (report.interrupted) return EXIT.interrupted;
    const hasOnlyFailed = report.ops === 0 && Object.keys(report.errors).length > 0;
    return hasOnlyFailed || changes.some(({ worse }) => worse) ? EXIT.failed : EXIT.done;
  },
});

async function sweep(kind: Kind, { flags, output }: BenchContext): Promise<typeof EXIT.done> {
  if (kind === 'cron') throw usageFailure('A cron tick runs once a second with any number of threads.');
  const refused = (['function', 'rate', 'csv', 'hdr', 'compare'] as const).find((name) => flags[name] !== undefined);
  if (refused !== undefined) throw usageFailure(`--threads-sweep and --${refused} exclude each other.`);
  const { clients, msgs, duration, warmup, size, workers, subscribers } = flags;
  const times = ['--duration', `${duration}ms`, '--warmup', `${warmup}ms`];
  const load = ['--clients', clients, '--size', size, '--workers', workers, '--subscribers', subscribers].map(String);
  const { sweepThreads, sweepText } = await import('./threads-sweep.ts');
  const found = await sweepThreads({
    kind,
    cores: availableParallelism(),
    load: [...load, ...times, ...(msgs === undefined ? [] : ['--msgs', String(msgs)])],
    note: (text) => output.note(text),
  });
  output.printDocument(found, sweepText(found));
  return EXIT.done;
}

async function measure(kind: Kind, context: BenchContext): Promise<{ report: Report; distribution: string }> {
  const { flags, output, terminal } = context;
  let isStopped = false;
  let isLoaded = false;
  terminal.onSignal(() => {
    // A second signal skips the cleanup, and before the first operation there is nothing to clean up.
    if (isStopped || !isLoaded) terminal.exit(EXIT.interrupted);
    isStopped = true;
  });
  const bytes = readSize(flags.size);
  const plan = planOf(kind, context);
  const { address, health } = await withEngine(context, async (connection) => ({
    address: connection.address,
    health: await connection.call('engine::health::check', {}),
  }));
  checkModule(kind, health);
  const token = await readToken(context);
  const { createWorker, nodePlatform, withTls } = await import('../../../sdk/internal.ts');
  const platform = withTlsOf(context, (tls) => withTls(nodePlatform, flags.url, { tls }));
  const connect = () => createWorker(flags.url, connectionOptions(token, context), platform);
  const name = `svc-bench-${randomBytes(4).toString('hex')}`;
  const functionId = flags.function ?? `${name}::echo`;
  const workers = flags.function === undefined ? Array.from({ length: flags.workers }, connect) : [];
  const clients = Array.from({ length: plan.clients }, connect);
  const loss = watchLoss([...workers, ...clients], address);
  try {
    for (const worker of workers) worker.registerFunction(functionId, (payload: unknown) => payload);
    await Promise.all([...workers, ...clients].map((one) => one.ready()));
    const stage = await prepare(kind, {
      ...{ name, clients, workers, functionId },
      payload: { group: 'one', text: 'x'.repeat(bytes) },
      subscribers: flags.subscribers,
      httpUrl: flags['http-url'],
      httpTls: tlsOf(flags['http-url'], context),
      streamUrl: flags['stream-url'],
      timeoutMs: flags.timeout,
      nowMs: () => terminal.now(),
    });
    const readHealth = async () => await clients[0]?.trigger({ function_id: 'engine::health::check', payload: {} });
    const engineUse = await watchEngine(readHealth, () => terminal.elapsedMs());
    const showsProgress = terminal.err.isTerminal && !output.quiet && !flags['no-progress'];
    const control = {
      elapsedMs: () => terminal.elapsedMs(),
      isStopped: () => isStopped || loss.hasHappened,
      progress: (ops: number, share: number, elapsedMs: number) => {
        if (showsProgress) terminal.err.write(progressLine(ops, share, elapsedMs));
      },
    };
    isLoaded = true;
    const load = runLoad(plan, control, (client) => stage.once(client)).finally(() => stage.clean());
    const result = await Promise.race([load, loss.failure]);
    if (showsProgress) terminal.err.write('\n');
    const version = isRecord(health) ? textIn(health, 'version') : '';
    const report = reportOf({ kind, plan, result, bytes, version, use: await engineUse(), context, isStopped });
    return { report, distribution: result.latencies.distribution() };
  } catch (error) {
    // Errors that follow from the loss of the connection are reported by their cause.
    if (loss.hasHappened) await loss.failure;
    throw isSvcError(error) ? callFailure(error, { functionId: `svc bench ${kind}`, verbose: output.verbose }) : error;
  } finally {
    await Promise.all([...clients, ...workers].map((one) => one.shutdown()));
  }
}

/** Without its module a benchmark would count only errors, and the cron benchmark would wait forever. */
function checkModule(kind: Kind, health: unknown): void {
  const module = moduleOf(kind);
  const components = isRecord(health) && isRecord(health.components) ? health.components : {};
  if (module === undefined || !isRecord(components.modules) || Object.hasOwn(components.modules, module)) return;
  throw new CliFailure({
    code: 'NOT_FOUND',
    message: `svc bench ${kind} measures ${module}, and the engine runs without it.`,
    exitCode: EXIT.notFound,
    hint: `Add it: svc worker add ${module}`,
  });
}

function connectionOptions(token: string | undefined, { flags, output }: BenchContext) {
  return {
    worker_name: 'svc-bench',
    reconnect: false,
    handle_signals: false,
    timeout_ms: flags.timeout,
    ...(token === undefined ? {} : { token }),
    log: (_level: string, message: string) => output.detail(message),
  } satisfies InternalOptions;
}

function planOf(kind: Kind, { flags }: BenchContext): LoadPlan {
  return {
    clients: kind === 'cron' ? 1 : flags.clients,
    messages: flags.msgs,
    durationMs: flags.duration,
    warmupMs: flags.warmup,
    perSecond: flags.rate === undefined ? undefined : readRate(flags.rate),
  };
}

function reportOf(run: {
  readonly kind: Kind;
  readonly plan: LoadPlan;
  readonly result: LoadResult;
  readonly bytes: number;
  readonly version: string;
  readonly use: EngineUse | undefined;
  readonly context: BenchContext;
  readonly isStopped: boolean;
}): Report {
  const { kind, plan, result, bytes, version, use, context, isStopped } = run;
  const { flags } = context;
  const seconds = Math.max(result.elapsedMs, 1) / 1_000;
  return {
    kind,
    parameters: {
      clients: plan.clients,
      ...(plan.messages === undefined ? { duration_ms: plan.durationMs } : { msgs: plan.messages }),
      warmup_ms: plan.warmupMs,
      size: bytes,
      rate: plan.perSecond ?? 'max',
      workers: flags.function === undefined ? flags.workers : 0,
      function: flags.function ?? 'echo',
      ...(kind === 'stream-fanout' ? { subscribers: flags.subscribers } : {}),
    },
    machine: { engine: version, svc: engineVersion(), node: process.versions.node, cpus: availableParallelism() },
    ops: result.ops,
    duration_ms: Math.round(result.elapsedMs),
    per_second: result.ops / seconds,
    bytes_per_second: (result.ops * bytes) / seconds,
    clients: result.perClient.map((ops, client) => ({ client, ops, per_second: ops / seconds })),
    latency: result.latencies.summary(),
    ...(use !== undefined && { engine: use }),
    errors: result.errors,
    interrupted: isStopped,
  };
}

function progressLine(ops: number, share: number, elapsedMs: number): string {
  const left = share > 0 ? `${Math.max(0, Math.round((elapsedMs / share - elapsedMs) / 1_000))} s left` : '';
  const text = `${Math.round(Math.min(1, share) * 100)} %  ${Math.round((ops * 1_000) / elapsedMs)}/s  ${left}`;
  return `\r${text.padEnd(60)}`;
}

function readSize(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)(B|KB|MB|KiB|MiB)?$/.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (UNITS[unit || 'B'] ?? Number.NaN));
  if (digits !== '' && bytes >= 0 && bytes <= 8 * 1024 * 1024) return bytes;
  throw usageFailure(`--size is '${text}': expected a size up to 8MiB, such as 128B, 4KiB or 1MB.`);
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1_000, MB: 1_000_000, KiB: 1_024, MiB: 1_048_576 };

function readRate(text: string): number {
  const rate = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text)?.[1]);
  if (rate > 0) return rate;
  throw usageFailure(`--rate is '${text}': expected operations per second, such as 5000/s.`);
}

function readTolerance(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)%?$/.exec(text)?.[1]);
  if (percent >= 0) return percent;
  throw usageFailure(`--tolerance is '${text}': expected a percentage, such as 10%.`);
}

/** A file that is not usable is refused before the run starts; the hint says how to create one. */
async function readEarlier(kind: Kind, file: string, cwd: string): Promise<EarlierReport> {
  const hint = `Save a run to compare with: svc bench ${kind} --json > old.json`;
  const text = await readFile(resolve(cwd, file), 'utf8').catch(() => {
    throw usageFailure(`Cannot read ${file}.`, hint);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isEarlierReport(value)) throw usageFailure(`${file} is not the output of svc bench --json.`, hint);
  if (value.kind !== kind)
    throw usageFailure(`${file} is a run of svc bench ${value.kind}, not of svc bench ${kind}.`, hint);
  return value;
}

function isEarlierReport(value: unknown): value is EarlierReport {
  if (!isRecord(value) || typeof value.kind !== 'string') return false;
  if (!isRecord(value.latency) || !isRecord(value.parameters)) return false;
  const { p50_ms: p50, p99_ms: p99 } = value.latency;
  return [value.per_second, p50, p99].every((number) => typeof number === 'number');
}
