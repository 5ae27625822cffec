import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../config/load.ts';
import { readConfigFile } from '../../../config/read-file.ts';
import { systemClock } from '../../../effects/clock.ts';
import { createLogger } from '../../../effects/logger.ts';
import { StartFailure } from '../../../effects/start-failure.ts';
import { watchFile } from '../../../effects/watch.ts';
import type { RunningEngine } from '../../../engine/engine.ts';
import { type ChosenThreads, chooseThreads, type Machine } from '../../../engine/routers/choose-threads.ts';
import { consoleStyle, securityWarnings } from '../../../engine/start-checks.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import {
  assertFileThere,
  CONFIG_FLAGS,
  defaultConfiguration,
  type ReadConfiguration,
  readConfiguration,
  startFailure,
} from '../../kernel/configuration.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { formatPairs } from '../../text/display-text.ts';
import type { StopSignal, Terminal } from '../../text/terminal.ts';

const THREADS_MAX = 64;
const POOL_THREADS_DEFAULT_MAX = 4;

const FLAGS = {
  ...CONFIG_FLAGS,
  'use-default-config': { kind: 'switch', help: 'Start with the built-in defaults, without a file.' },
  threads: {
    kind: 'text',
    placeholder: '<n|auto>',
    env: 'SVC_THREADS',
    help: 'Router threads: a number, or auto, half of the cores.',
  },
  check: { kind: 'switch', help: 'Check the configuration and exit.' },
} as const satisfies FlagTable;

type StartContext = Context<typeof FLAGS>;

export const start = defineCommand({
  name: 'start',
  summary: 'Start the engine.',
  details: [
    'SIGTERM or Ctrl-C stops the engine: running calls get drain_timeout_ms to finish. A second one stops it ' +
      'immediately. svc --config <file> is the same as svc start --config <file>.',
    'Addresses and modules go to stderr, followed by the log. With --json they are one document on stdout, and the ' +
      'log is JSON, too.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc start', shows: 'Starts with svc-config.yaml in the current folder.' },
    { line: 'svc --config staging.yaml --threads 4', shows: 'Starts with that file and four router threads.' },
    { line: 'svc start --check', shows: 'Reports problems of the file and starts nothing.' },
  ],
  exitCodes: [EXIT.conflict, EXIT.storage, EXIT.dependency, EXIT.configuration, EXIT.interrupted],
  hostsEngine: true,
  checkFirst({ flags, terminal }) {
    if (!flags['use-default-config']) assertFileThere(flags.config, terminal);
  },
  async run(context) {
    const { flags, output, terminal } = context;
    const configuration = await readNamedConfiguration(context);
    const { settings } = configuration.config;
    const { threads, reason } = resolveThreads(flags.threads ?? settings.threads, settings.cluster !== undefined);
    if (flags.check) {
      const name = configuration.file ?? 'The built-in configuration';
      output.printDocument({ valid: true, file: configuration.file ?? null }, `${name} is valid.`);
      for (const warning of securityWarnings(configuration.config)) output.warn(warning);
      return EXIT.done;
    }
    const stop = new StopRequest(terminal);
    const engine = await Promise.race([startEngineWith(context, configuration, threads), stop.requested]);
    // No call has been accepted yet, so there is nothing to drain.
    if (typeof engine === 'string') return engine === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;

    followFile(configuration, engine, terminal);
    announce(context, configuration, engine, reason);
    // Process managers (pm2's wait_ready) and `npm start` wait for this message.
    process.send?.('ready');
    return await untilStopped(engine, stop.requested, terminal);
  },
});

/** Serves until a signal asks it to stop, or a store fails. */
export async function untilStopped(engine: RunningEngine, stopRequested: Promise<unknown>, terminal: Terminal) {
  // Half an engine cannot even drain.
  engine.routerFailed.then(() => terminal.exit(EXIT.failed));
  const failure = await Promise.race([stopRequested.then(() => undefined), engine.storeFailed]);
  if (failure !== undefined) return await endAfterFailure(engine, terminal);
  // A store may also fail while the engine drains.
  const failedLate = engine.storeFailed.then(() => endAfterFailure(engine, terminal));
  return await Promise.race([engine.drain().then(() => EXIT.done), failedLate]);
}

/** D3 allows five seconds; work that hangs is abandoned. */
const FAILED_DRAIN_MS = 1_000;
const FAILED_END_MS_MAX = 4_000;

/** A supervisor restarts the engine: nothing may be acknowledged from here on. */
async function endAfterFailure(engine: RunningEngine, terminal: Terminal): Promise<typeof EXIT.storage> {
  setTimeout(() => terminal.exit(EXIT.storage), FAILED_END_MS_MAX).unref();
  await engine.drain({ timeoutMs: FAILED_DRAIN_MS });
  return EXIT.storage;
}

/** The first signal starts a drain, the second one ends the process (G1). */
export class StopRequest {
  readonly requested: Promise<StopSignal>;

  constructor(terminal: Terminal) {
    let signals = 0;
    this.requested = new Promise((resolve) => {
      terminal.onSignal((signal) => {
        signals += 1;
        if (signals > 1) terminal.exit(EXIT.interrupted);
        resolve(signal);
      });
    });
  }
}

async function readNamedConfiguration({ flags, terminal }: StartContext): Promise<ReadConfiguration> {
  if (!flags['use-default-config']) return await readConfiguration(flags.config, terminal);
  if (flags.config !== undefined) throw usageFailure('--config and --use-default-config exclude each other.');
  return defaultConfiguration(terminal);
}

/** Router threads, from the flag or variable, else from the file, which is validated. */
export function resolveThreads(threads: string | number, isInCluster: boolean, machine = thisMachine()): ChosenThreads {
  if (threads === 'auto') return chooseThreads(machine, isInCluster);
  if (typeof threads === 'number') return { threads, reason: undefined };
  const count = /^\d{1,4}$/.test(threads) ? Number(threads) : 0;
  if (count >= 1 && count <= THREADS_MAX) return { threads: count, reason: undefined };
  throw usageFailure(`--threads is '${threads}': expected auto or a whole number from 1 to ${THREADS_MAX}.`);
}

function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    // Limited by the container, if it has a limit.
    memoryBytes: process.constrainedMemory() || totalmem(),
    sharesPorts: process.platform === 'linux',
  };
}

function poolThreadsOf({ pool_threads: given }: LoadedConfig['settings']): number {
  return given ?? Math.min(POOL_THREADS_DEFAULT_MAX, availableParallelism());
}

/** Reads a changed file again, also on SIGHUP; problems are reported in the log and in the health. */
export function followFile({ file, text }: ReadConfiguration, engine: RunningEngine, terminal: Terminal): void {
  if (file === undefined) return;
  const path = resolve(terminal.cwd, file);
  const reload = (): void => {
    // The result is logged already.
    engine.reload();
  };
  watchFile(path, systemClock, reload);
  terminal.onHangup(reload);
  // It may have changed since it was read.
  readConfigFile(path).then((read) => {
    if (!read.ok || read.text !== text) reload();
  });
}

export async function startEngineWith(
  { output, terminal }: Pick<StartContext, 'output' | 'terminal'>,
  { file, config }: ReadConfiguration,
  threads: number,
  adapt?: (config: LoadedConfig) => LoadedConfig,
) {
  const { level, format } = consoleStyle(config);
  const logger = createLogger({
    level: output.verbose ? 'debug' : output.quiet ? 'warn' : level,
    format: output.jsonAsked ? 'json' : format,
    clock: systemClock,
    write: (line) => terminal.err.write(`${line}\n`),
    isConsole: true,
  });
  // Imported only when needed: `--check` must work when the engine's libraries do not load.
  const { startStoreThread } = await import('../../../engine/store-thread.ts');
  const storeThread = startStoreThread(threads);
  try {
    const { startEngine } = await import('../../../engine/engine.ts');
    const configFile = file === undefined ? {} : { configFile: resolve(terminal.cwd, file) };
    return await startEngine({
      config,
      ...configFile,
      ...(adapt !== undefined && { adapt }),
      threads,
      poolThreads: poolThreadsOf(config.settings),
      logger,
      storeThread,
    });
  } catch (error) {
    await storeThread.close();
    throw error instanceof StartFailure ? startFailure(error) : error;
  }
}

export function announce(
  { output }: Pick<StartContext, 'output'>,
  { file }: ReadConfiguration,
  engine: RunningEngine,
  /** Why it has this number of router threads. */
  reason?: string,
): void {
  const { version, transport, threads, poolThreads, listeners, modules, warnings } = engine;
  if (output.jsonAsked) {
    const size = { threads, ...(reason !== undefined && { threads_auto: reason }), pool_threads: poolThreads };
    output.printJson({ version, transport, ...size, config: file ?? null, listeners, modules, warnings });
  } else {
    output.note(formatStartBlock(file, engine, reason).join('\n'));
  }
  for (const warning of warnings) output.warn(warning);
}

function formatThreads({ threads, poolThreads }: RunningEngine, reason: string | undefined): string {
  const auto = reason === undefined ? '' : ` (auto: ${reason})`;
  const routers = threads === 1 ? `1 router${auto}` : `${threads} routers${auto}, which share the ports`;
  return `${routers}; ${poolThreads} for large frames (pool_threads)`;
}

function formatStartBlock(file: string | undefined, engine: RunningEngine, reason: string | undefined): string[] {
  const { version, transport, listeners, modules } = engine;
  const rows: [string, string][] = [
    ['config', file ?? 'built-in defaults'],
    ['transport', transport],
    ['threads', formatThreads(engine, reason)],
    ...listeners.map(({ name, address }): [string, string] => [name, address]),
    ['modules', modules.map(({ name, adapter }) => (adapter === undefined ? name : `${name} (${adapter})`)).join(', ')],
  ];
  return [`svc ${version} is running`, ...formatPairs(rows)];
}
