// `svc worker dev`: one worker, restarted when its files change, with a line for each call that it receives. Without
// traces, or without an engine, there are no such lines and the worker keeps running.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import { systemClock } from '../../../effects/clock.ts';
import { watchFolder } from '../../../effects/watch.ts';
import type { TlsOptions } from '../../../sdk/worker/options.ts';
import { type EngineConnection, follow, readToken, withEngine } from '../../engine/connection.ts';
import { engineNode } from '../../engine/pinned-node.ts';
import { tlsOf } from '../../engine/tls.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, toFailure, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { numberIn, recordsIn, textIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { flatSpans, readTrace } from '../watch/spans.ts';
import { DevWorker, type RegistrationWatch, type WorkerCommand } from './dev-worker.ts';
import { readProject } from './worker-project.ts';

const FLAGS = {
  inspect: { kind: 'switch', help: 'Open a debugger port; Node prints its address.' },
  'env-file': { kind: 'text', placeholder: '<file>', help: 'Environment variables for the worker, NAME=value.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type DevContext = Context<typeof FLAGS>;

/** Time limit for a new process to register with the engine. */
const REGISTER_MS_MAX = 10_000;
const POLL_MS = 100;

export const workerDev = defineCommand({
  name: 'worker dev',
  summary: 'Run one worker, and restart it when its files change.',
  operands: { usage: '[path]', min: 0, max: 1, help: 'Its folder. Default: the current folder.', kinds: ['file'] },
  details: [
    'Needs a running engine. After a change the new process registers first, then the old one ends. When the new ' +
      'process fails to start, the reason is printed and the old one keeps running. Each call is printed as a line ' +
      'if the engine keeps traces. With a tsconfig.json and a compiler, type errors are shown; they do not stop ' +
      'the worker. Runs until interrupted.',
  ],
  flags: FLAGS,
  formats: ['text'],
  examples: [
    { line: 'svc worker dev ./workers/orders', shows: 'Runs it, with its output.' },
    { line: 'svc worker dev --inspect --env-file .env', shows: 'The worker in this folder, with a debugger.' },
  ],
  exitCodes: [EXIT.interrupted],
  async run(context) {
    const { operands, output, terminal } = context;
    const folder = resolve(terminal.cwd, operands[0] ?? '.');
    // At the start, an unreadable manifest is a usage error; later it may be one that is being edited.
    const { manifest } = await readProject(folder);
    const note = (text: string): void => output.note(output.paintErr.dim(`· ${text}`));
    const worker = new DevWorker({
      command: () => commandFor(context, folder),
      watchForNew: () => watchForNew(context, manifest.name),
      note,
      line: (stream, text) => terminal[stream === 'stdout' ? 'out' : 'err'].write(`${stripUnsafe(text)}\n`),
    });
    const types = new TypeCheck({
      ...{ folder, note, node: engineNode() },
      line: (text) => terminal.err.write(`${stripUnsafe(text)}\n`),
    });
    types.check();
    watchFolder(folder, systemClock, () => {
      note('changed');
      types.check();
      worker.restart();
    });
    await worker.restart();
    printCalls(context, manifest.name, (text) => note(stripUnsafe(text)));
    // A signal ends this process, and the worker drains.
    systemClock.every(60_000, () => {}, { keepsProcessAlive: true });
    return await new Promise(() => {});
  },
});

async function commandFor(context: DevContext, folder: string): Promise<WorkerCommand> {
  const { flags, terminal } = context;
  const { manifest, commands } = await readProject(folder).catch((error: unknown) => {
    const { message, lines = [] } = toFailure(error).report;
    throw new Error([message, ...lines].join('\n'));
  });
  const isNode = ['node', 'javascript', 'typescript'].includes(manifest.runtime.kind);
  if (flags.inspect && !isNode)
    throw new Error(`--inspect needs a Node worker; the runtime of this one is '${manifest.runtime.kind}'.`);
  const token = await readToken(context);
  const debug = [terminal.env.NODE_OPTIONS ?? '', '--inspect=127.0.0.1:0'].join(' ').trim();
  return {
    command: commands.start,
    cwd: folder,
    env: {
      ...terminal.env,
      ...manifest.env,
      ...(await readVariables(flags['env-file'], terminal.cwd)),
      ...(flags.inspect && { NODE_OPTIONS: debug }),
      SVC_URL: flags.url,
      SVC_NODE: engineNode(),
      SVC_WORKER_NAME: manifest.name,
      ...(token !== undefined && { SVC_TOKEN: token }),
      ...environmentOf(tlsOf(flags.url, context)),
    },
  };
}

function environmentOf(tls: TlsOptions | undefined): NodeJS.Dict<string> {
  if (tls === undefined) return {};
  return {
    SVC_CA_FILE: tls.ca_file,
    SVC_CERT_FILE: tls.cert_file,
    SVC_KEY_FILE: tls.key_file,
    SVC_SERVER_NAME: tls.server_name,
  };
}

async function readVariables(file: string | undefined, cwd: string): Promise<NodeJS.Dict<string>> {
  if (file === undefined) return {};
  const path = resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`Cannot read the variables from ${path} (${error.code}).`);
  });
  return parseEnv(text);
}

/** Keeps a connection open from before the start until the registration. */
async function watchForNew(context: DevContext, name: string): Promise<RegistrationWatch | undefined> {
  let close = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    close = resolve;
  });
  return await new Promise((resolve, reject) => {
    withEngine(context, async (engine) => {
      const present = async (): Promise<string[]> =>
        recordsIn(await engine.call('engine::workers::list', { search: name }), 'workers')
          .filter((record) => textIn(record, 'name') === name && (numberIn(record, 'function_count') ?? 0) > 0)
          .map((record) => textIn(record, 'id'));
      const before = new Set(await present());
      const appeared = async (): Promise<boolean> => {
        for (const endMs = performance.now() + REGISTER_MS_MAX; performance.now() < endMs; ) {
          if ((await present()).some((id) => !before.has(id))) return true;
          await new Promise((done) => setTimeout(done, POLL_MS));
        }
        return false;
      };
      resolve({ appeared, close });
      await isOver;
    }).catch((error: unknown) => {
      const isAway = error instanceof CliFailure && error.report.exitCode === EXIT.unreachable;
      if (isAway) resolve(undefined);
      else reject(error);
    });
  });
}

const CALLS_POLL_MS = 500;
const AWAY_MS = 2_000;
/** A call that takes longer is not shown. */
const WINDOW_MS = 60_000;
const TRACES_MAX = 50;
const EXECUTED = 'execute ';

interface Seen {
  readonly atMs: number;
  spans: number;
  readonly printed: Set<string>;
}

/** Never ends. */
async function printCalls(
  context: Context<typeof CONNECTION_FLAGS>,
  worker: string,
  print: (line: string) => void,
): Promise<never> {
  const { terminal } = context;
  const begunMs = terminal.now();
  const seen = new Map<string, Seen>();
  const poll = async (engine: EngineConnection): Promise<void> => {
    const nowMs = terminal.now();
    for (const [trace, { atMs }] of seen) if (atMs < nowMs - 2 * WINDOW_MS) seen.delete(trace);
    const answer = await engine.call('engine::traces::list', {
      ...{ service_name: worker, search_all_spans: true, limit: TRACES_MAX, sort_by: 'start_time', sort_order: 'desc' },
      start_time: Math.max(begunMs, nowMs - WINDOW_MS),
    });
    for (const row of recordsIn(answer, 'spans').reverse()) {
      const trace = textIn(row, 'trace_id');
      const known = seen.get(trace) ?? { atMs: nowMs, spans: 0, printed: new Set<string>() };
      seen.set(trace, known);
      const spans = numberIn(row, 'span_count') ?? 0;
      if (spans === known.spans) continue;
      known.spans = spans;
      for (const span of flatSpans(await readTrace(engine, trace))) {
        if (!isOf(worker, span) || known.printed.has(span.span_id)) continue;
        known.printed.add(span.span_id);
        print(lineOf(span));
      }
    }
  };
  for (;;) {
    await follow(context, CALLS_POLL_MS, poll).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  }
}

function isOf(worker: string, { service_name: service, name }: TreeSpan): boolean {
  return service === worker && name.startsWith(EXECUTED);
}

function lineOf({ name, status, duration_ms: durationMs, trace_id: trace }: TreeSpan): string {
  return `${name.slice(EXECUTED.length)} ${status} ${formatDuration(durationMs)} trace=${trace.slice(0, 16)}`;
}

interface TypeCheckOptions {
  readonly folder: string;
  /** The program that runs the compiler. */
  readonly node: string;
  readonly line: (text: string) => void;
  readonly note: (text: string) => void;
}

/**
 * Checks with the compiler of the project, if it has one. Type errors are shown, but never keep the worker from
 * running.
 */
class TypeCheck {
  readonly #options: TypeCheckOptions;
  #running: ChildProcess | undefined;
  #hadErrors = false;

  constructor(options: TypeCheckOptions) {
    this.#options = options;
  }

  /** A check that is still running is outdated: the files have changed. */
  check(): void {
    this.#running?.kill();
    this.#running = undefined;
    const { folder, node } = this.#options;
    const project = nearest(folder, 'tsconfig.json');
    const compiler = compilerOf(folder);
    if (project === undefined || compiler === undefined) return;
    const args = [compiler, '--noEmit', '--pretty', 'false', '--project', project];
    const child = spawn(node, args, { cwd: dirname(project), stdio: ['ignore', 'pipe', 'ignore'] });
    this.#running = child;
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.once('error', () => {});
    child.once('close', (code) => {
      if (this.#running !== child) return;
      this.#running = undefined;
      this.#report(code === 0 ? [] : printed.split('\n').filter((text) => text.trim() !== ''));
    });
  }

  #report(errors: readonly string[]): void {
    const { line, note } = this.#options;
    if (errors.length > 0) note('types:');
    for (const text of errors) line(text);
    if (errors.length === 0 && this.#hadErrors) note('types: no errors left');
    this.#hadErrors = errors.length > 0;
  }
}

/** In the folder or a folder above it, up to the root of the package or repository. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, '.git')) ? undefined : nearest(above, name);
}

function compilerOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('typescript/bin/tsc');
  } catch {
    return undefined;
  }
}
