// `svc dev`: the engine, all its workers and the web console in one terminal.

import { dirname, resolve } from 'node:path';
import { forDevelopment } from '../../../config/development.ts';
import { type LoadedConfig, storeFolders } from '../../../config/load.ts';
import type { RunningConsole } from '../../../console/server/server.ts';
import type { Trust } from '../../../effects/certificates.ts';
import { systemClock } from '../../../effects/clock.ts';
import { watchFolder } from '../../../effects/watch.ts';
import type { RunningEngine } from '../../../engine/engine.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import { callFailure } from '../../engine/call-failure.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { assertFileThere, CONFIG_FLAGS, readConfiguration } from '../../kernel/configuration.ts';
import { type CliFailure, EXIT, toFailure } from '../../kernel/failures.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { mayColour } from '../../text/colour.ts';
import type { Output } from '../../text/output.ts';
import { readKeys } from '../../text/terminal.ts';
import { readJson, readPayload } from '../call/payload.ts';
import { openBrowser } from './console.ts';
import { announce, followFile, StopRequest, startEngineWith, untilStopped } from './start.ts';
import { type LocalWorker, WorkerOutput } from './worker-output.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  keep: { kind: 'switch', help: 'Use the stores of the file. Without it everything is in memory.' },
  'port-offset': {
    kind: 'count',
    placeholder: '<n>',
    fallback: '0',
    min: 0,
    max: 50_000,
    help: 'Add this to every port of the file and of the console.',
  },
  'no-console': { kind: 'switch', help: 'Do not serve the web console.' },
} as const satisfies FlagTable;

type DevContext = Context<typeof FLAGS>;

const POLL_MS = 150;
const CALL_TIMEOUT_MS = 60_000;
/** Short: in development, calls that are still running need not finish. */
const DRAIN_MS = 2_000;

export const dev = defineCommand({
  name: 'dev',
  summary: 'Run the engine and all its workers in one terminal.',
  details: [
    'A worker restarts when its files change, and the engine follows changes of the configuration. Data is kept ' +
      'in memory, unless --keep is given. The web console is served, too. Keys on a terminal: o opens the ' +
      'console, t calls a function, l switches between the output of all workers and of each one, r restarts the ' +
      'workers that are shown, q quits. Without a terminal, stdout is a plain stream of lines; the log of the ' +
      'engine goes to stderr.',
  ],
  flags: FLAGS,
  formats: ['text'],
  examples: [
    { line: 'svc dev', shows: 'Runs svc-config.yaml, with data in memory.' },
    { line: 'svc dev --keep --port-offset 100', shows: 'Uses its stores, next to another engine.' },
  ],
  exitCodes: [EXIT.conflict, EXIT.storage, EXIT.dependency, EXIT.configuration, EXIT.interrupted],
  hostsEngine: true,
  checkFirst: ({ flags, terminal }) => assertFileThere(flags.config, terminal),
  async run(context) {
    const { flags, terminal } = context;
    const adapt = (config: LoadedConfig): LoadedConfig =>
      forDevelopment(config, { keep: flags.keep, portOffset: flags['port-offset'] });
    const read = await readConfiguration(flags.config, terminal);
    const configuration = { ...read, config: adapt(read.config) };
    // Several are for load, which no project has while it is written.
    const { threads: given } = configuration.config.settings;
    const threads = given === 'auto' ? 1 : given;
    const stop = new StopRequest(terminal);
    const engine = await Promise.race([startEngineWith(context, configuration, threads, adapt), stop.requested]);
    if (typeof engine === 'string') return engine === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
    followFile(configuration, engine, terminal);
    announce(context, configuration, engine);
    const kept = flags.keep ? [] : storeFolders(read.config, terminal.cwd);
    if (kept.length > 0)
      context.output.note(`Data is lost when the engine ends. To keep it in ${kept.join(', ')}: svc dev --keep`);
    const consoleServer = flags['no-console'] ? undefined : await serveConsole(context, configuration.config, engine);
    const { address: url = '', tls } = engine.listeners.find(({ name }) => name === 'workers') ?? {};
    const folder = dirname(resolve(terminal.cwd, configuration.file ?? '.'));
    const session = {
      url,
      tls,
      folder,
      token: configuration.config.settings.bridge_token,
      consoleUrl: consoleServer?.url,
    };
    const quit = attend(context, session);
    const exitCode = await untilStopped(engine, Promise.race([stop.requested, quit]), terminal);
    await consoleServer?.stop();
    return exitCode;
  },
});

interface SessionOptions {
  readonly url: string;
  readonly tls: Trust | undefined;
  readonly folder: string;
  readonly token: string | undefined;
  readonly consoleUrl: string | undefined;
}

/** Shows the workers' output, restarts changed workers and handles keys. Resolves when the user quits. */
async function attend(context: DevContext, { url, tls, folder, token, consoleUrl }: SessionOptions): Promise<void> {
  const { output, terminal } = context;
  const flags = {
    ...{ url, context: undefined, timeout: CALL_TIMEOUT_MS },
    ...{ 'token-file': undefined, 'cert-file': undefined, 'key-file': undefined },
    ...{ 'ca-file': tls?.ca_file, 'server-name': tls?.server_name },
  };
  const ownTerminal = { ...terminal, env: { ...terminal.env, ...(token !== undefined && { SVC_TOKEN: token }) } };
  await withEngine({ flags, output, terminal: ownTerminal }, async (engine) => {
    const lines = new WorkerOutput({
      engine,
      write: (line) => terminal.out.write(`${line}\n`),
      isColoured: mayColour({ mode: 'auto', env: terminal.env, isTerminal: terminal.out.isTerminal }),
    });
    const watched = new Map<string, () => void>();
    let workers: readonly LocalWorker[] = [];
    let isOver = false;
    let endSession: () => void = () => {};
    const ended = new Promise<void>((done) => {
      endSession = () => {
        isOver = true;
        done();
      };
    });
    const restart = (name: string): void => {
      engine.call('worker::restart', { name, drain_ms: DRAIN_MS }).catch((error: unknown) => {
        output.warn(failureOf('worker::restart', error, output.verbose).message);
      });
    };
    if (terminal.mayAsk)
      obeyKeys(context, { engine, lines, workers: () => workers, restart, end: endSession, consoleUrl });
    while (!isOver) {
      workers = await lines.poll();
      follow(workers, watched, folder, restart);
      await Promise.race([ended, engine.lost, new Promise((done) => setTimeout(done, POLL_MS))]);
    }
    for (const close of watched.values()) close();
  }).catch((error: unknown) => {
    // The engine of this process has ended; it reports the reason itself.
    output.detail(toFailure(error).message);
    return new Promise<void>(() => {});
  });
}

function follow(
  workers: readonly LocalWorker[],
  watched: Map<string, () => void>,
  folder: string,
  restart: (name: string) => void,
): void {
  for (const [name, close] of watched) {
    if (workers.some((worker) => worker.name === name)) continue;
    close();
    watched.delete(name);
  }
  for (const { name, path } of workers) {
    if (watched.has(name)) continue;
    const target = resolve(folder, path);
    const below = /\.ya?ml$/.test(target) ? dirname(target) : target;
    watched.set(
      name,
      watchFolder(below, systemClock, () => restart(name)),
    );
  }
}

interface Session {
  readonly engine: EngineConnection;
  readonly lines: WorkerOutput;
  readonly workers: () => readonly LocalWorker[];
  readonly restart: (name: string) => void;
  readonly end: () => void;
  readonly consoleUrl: string | undefined;
}

function obeyKeys({ output, terminal }: DevContext, session: Session): void {
  const { engine, lines, workers, restart, end, consoleUrl } = session;
  const pressed: Readonly<Record<string, () => void>> = {
    q: quit,
    '\u0003': quit,
    o() {
      if (consoleUrl === undefined) output.note('· no console is served');
      else openBrowser(consoleUrl);
    },
    l() {
      const names = [undefined, ...workers().map(({ name }) => name)];
      lines.only = names[(names.indexOf(lines.only) + 1) % names.length];
      output.note(lines.only === undefined ? '· lines of all workers' : `· lines of ${lines.only}`);
    },
    r() {
      for (const { name } of workers()) if (lines.only === undefined || lines.only === name) restart(name);
    },
    t() {
      close();
      invoke().finally(listen);
    },
  };
  let close: () => void = () => {};
  function listen(): void {
    close = readKeys((key) => pressed[key]?.());
  }
  function quit(): void {
    close();
    end();
  }
  async function invoke(): Promise<void> {
    const answer = await terminal.ask('call (id, then key=value … or JSON): ');
    const [, id = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(answer.trim()) ?? [];
    if (id === '') return;
    try {
      const payload = /^[[{"]/.test(rest)
        ? await readJson(rest, TYPED, terminal)
        : await readPayload(undefined, rest.split(/\s+/).filter(Boolean), terminal);
      output.note(JSON.stringify(await engine.call(id, payload)));
    } catch (error) {
      output.fail(failureOf(id, error, output.verbose));
    }
  }
  listen();
}

const TYPED = { what: 'payload', origin: 'this line', hint: 'Pairs are shorter: sku=a1 qty:=2' };

function failureOf(functionId: string, error: unknown, verbose: boolean): CliFailure {
  return isSvcError(error) ? callFailure(error, { functionId, verbose }) : toFailure(error);
}

const PORT = 3113;

interface ConsoleContext {
  readonly flags: { readonly 'port-offset': number };
  readonly output: Output;
}

/** Undefined when the configuration has no HTTP port, or the console's own port is taken. */
async function serveConsole(
  { flags, output }: ConsoleContext,
  { settings }: LoadedConfig,
  { listeners }: RunningEngine,
): Promise<RunningConsole | undefined> {
  const listenerOf = (name: string) => listeners.find((listener) => listener.name === name);
  const portOf = (name: string): number | undefined => {
    const address = listenerOf(name)?.address;
    return address === undefined ? undefined : Number(new URL(address).port);
  };
  const secured = (['http', 'streams', 'workers'] as const).filter((name) => listenerOf(name)?.tls !== undefined);
  const enginePort = portOf('http');
  if (enginePort === undefined) {
    output.detail('No console: it needs the module svc-http.');
    return undefined;
  }
  try {
    const options = {
      host: '127.0.0.1',
      port: PORT + flags['port-offset'],
      ...{ engineHost: '127.0.0.1', enginePort },
      // Without streams, or with workers on another port, the console does not connect to these ports.
      streamPort: portOf('streams') ?? 0,
      bridgePort: portOf('workers') ?? 0,
      engineTls: new Set(secured),
      trust: secured.map((name) => listenerOf(name)?.tls).find((tls) => tls !== undefined) ?? {},
      token: settings.bridge_token,
      isReadOnly: false,
      hasFlow: true,
      serviceName: 'svc-console',
    };
    const { startConsole } = await import('../../../console/server/server.ts');
    const running = await startConsole(options, (line) => output.detail(line));
    output.note(`Console: ${running.url}`);
    return running;
  } catch (error) {
    output.warn(`${toFailure(error).message} The engine runs without a console. Use --port-offset to move all ports.`);
    return undefined;
  }
}
