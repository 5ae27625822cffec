import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { systemClock } from '../../effects/clock.ts';
import { watchFolder } from '../../effects/watch-folder.ts';
import { tellCalls } from '../call-lines.ts';
import { type Context, defineCommand } from '../command.ts';
import { readToken, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { type DevOrder, DevWorker, type RegistrationWatch } from '../dev-worker.ts';
import { stripUnsafe } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, toFailure, usageFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { engineNode } from '../pinned-node.ts';
import { numberIn, recordsIn, textIn } from '../records.ts';
import { TypeCheck } from '../type-check.ts';
import { readProject } from '../worker-project.ts';

const FLAGS = {
  inspect: { kind: 'switch', help: 'Let a debugger in, at a free port that Node names.' },
  'env-file': { kind: 'text', placeholder: '<file>', help: 'Environment variables for the worker, NAME=value.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type DevContext = Context<typeof FLAGS>;

/** How long a new process may take to be known to the engine. */
const REGISTER_MS_MAX = 10_000;
const LOOK_MS = 100;

export const workerDev = defineCommand({
  name: 'worker dev',
  summary: 'Run one worker, and start it anew when its files change.',
  operands: { usage: '[path]', min: 0, max: 1, help: 'Its folder; the current one if none is named.', kinds: ['file'] },
  details: [
    'Needs a running engine. After a change the new process registers first, then the one before ends. One that does ' +
      'not come up says why, and the one before goes on. Every call is a line, where the engine keeps ' +
      'traces. Type errors are shown where the project has a tsconfig.json and the compiler, and stop nothing. Runs ' +
      'until it is interrupted.',
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
    // A manifest that cannot be read is a mistake on the line; later it is one in the making.
    const { manifest } = await readProject(folder);
    const say = (text: string): void => output.note(output.paintErr.dim(`· ${text}`));
    const worker = new DevWorker({
      order: () => orderFor(context, folder),
      watchForNew: () => watchForNew(context, manifest.name),
      say,
      line: (stream, text) => terminal[stream === 'stdout' ? 'out' : 'err'].write(`${stripUnsafe(text)}\n`),
    });
    const types = new TypeCheck({
      ...{ folder, say, node: engineNode() },
      line: (text) => terminal.err.write(`${stripUnsafe(text)}\n`),
    });
    types.look();
    watchFolder(folder, systemClock, () => {
      say('changed');
      types.look();
      worker.turn();
    });
    await worker.turn();
    tellCalls(context, manifest.name, (text) => say(stripUnsafe(text)));
    // A signal ends the process, and with it, in its own time, the worker.
    systemClock.every(60_000, () => {}, { keepsProcessAlive: true });
    return await new Promise(() => {});
  },
});

async function orderFor(context: DevContext, folder: string): Promise<DevOrder> {
  const { flags, terminal } = context;
  const { manifest, commands } = await readProject(folder).catch((error: unknown) => {
    const { message, lines = [] } = toFailure(error).facts;
    throw new Error([message, ...lines].join('\n'));
  });
  const isNode = ['node', 'javascript', 'typescript'].includes(manifest.runtime.kind);
  if (flags.inspect && !isNode) throw new Error(`--inspect is for Node, and this is '${manifest.runtime.kind}'.`);
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
    },
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

/** Holds a connection from before the start to the registration. */
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
          await new Promise((done) => setTimeout(done, LOOK_MS));
        }
        return false;
      };
      resolve({ appeared, close });
      await isOver;
    }).catch((error: unknown) => {
      const isAway = error instanceof CliFailure && error.facts.exitCode === EXIT.unreachable;
      if (isAway) resolve(undefined);
      else reject(error);
    });
  });
}
