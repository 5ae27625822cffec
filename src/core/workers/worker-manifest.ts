// `svc.worker.yaml`: the manifest of a worker project, and the commands that follow from it.

import type { ValueOf } from '../config-fields/fields.ts';
import { fields, listOf, mapOf, optional, refused, text } from '../config-fields/fields.ts';
import type { FieldProblem } from '../config-fields/fields-check.ts';

export const MANIFEST_FILE = 'svc.worker.yaml';

/** The name of a project worker, used everywhere: the start of log lines, a word in commands. */
export const WORKER_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i;

const NOT_HERE = 'This version starts workers as plain processes and does not read it. Remove it.';

export const manifestSchema = fields({
  name: text({ bytesMax: 63, help: 'Name of the worker: letters, digits, dot, dash, underscore' }),
  description: optional(text({ help: 'One line for lists' })),
  version: optional(text({ help: "The worker's own version" })),
  runtime: fields({
    kind: text({ help: 'Language: node, typescript, python, or any other word when scripts.start is given' }),
    package_manager: optional(text({ help: 'Dependency tool: npm, pnpm, yarn, pip' })),
    entry: optional(text({ help: 'Entry file, relative to the manifest' })),
    base_image: refused(NOT_HERE),
  }),
  scripts: fields({
    install: optional(text({ help: 'Command that installs dependencies; runs before the first start' })),
    setup: refused('Put it into scripts.install.'),
    start: optional(text({ help: 'Command that starts the worker; follows from runtime when it is left out' })),
  }),
  env: mapOf(text({ bytesMin: 0 }), { default: {}, help: 'Environment variables of its processes' }),
  tags: listOf(text(), { default: [], help: 'Words for lists' }),
  dependencies: refused(NOT_HERE),
  resources: refused(NOT_HERE),
});

/** An entry under `workers` that has a `path`: a program of the user which the engine starts and keeps running. */
export interface ProjectWorker {
  readonly name: string;
  /** As written: relative to the configuration file, or absolute. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Passed to the worker as JSON in `SVC_WORKER_CONFIG`. */
  readonly config: unknown;
  /** Its commands, in place of a manifest in its folder. */
  readonly scripts?: WorkerCommands;
}

/** What is added to a configuration file. */
export interface NewEntry {
  readonly name: string;
  readonly path?: string;
  readonly config?: unknown;
}

export type WorkerManifest = ValueOf<typeof manifestSchema>;

export interface WorkerCommands {
  readonly install: string | undefined;
  readonly start: string;
}

interface Runtime {
  readonly start: (entry: string) => string;
  /** By package manager; the first is the default. */
  readonly install: Readonly<Record<string, string>>;
}

const NODE_INSTALL = {
  npm: 'npm install --no-audit --no-fund',
  pnpm: 'pnpm install',
  yarn: 'yarn install',
};

/**
 * Node runs TypeScript files itself from 22.18 on; older ones need the flag, which newer ones accept too. The Node that
 * a shell finds may be older still (20 does not have the flag), so the engine's own Node is used (PD-61).
 */
const TYPESCRIPT_NODE = '"$SVC_NODE" --disable-warning=ExperimentalWarning --experimental-strip-types';

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  node: { start: (entry) => `node ${quoted(entry)}`, install: NODE_INSTALL },
  javascript: { start: (entry) => `node ${quoted(entry)}`, install: NODE_INSTALL },
  typescript: { start: (entry) => `${TYPESCRIPT_NODE} ${quoted(entry)}`, install: NODE_INSTALL },
  python: {
    start: (entry) => `python3 -u ${quoted(entry)}`,
    install: { pip: 'python3 -m pip install -r requirements.txt' },
  },
};

/** The command that runs a worker. An install command follows only from a named package manager. */
export function commandsOf({ runtime, scripts }: WorkerManifest): WorkerCommands | FieldProblem {
  const known = Object.hasOwn(RUNTIMES, runtime.kind) ? RUNTIMES[runtime.kind] : undefined;
  const manager = runtime.package_manager;
  const start = scripts.start ?? (runtime.entry === undefined ? undefined : known?.start(runtime.entry));
  if (start === undefined) {
    const message =
      known === undefined
        ? `Missing 'scripts.start': a worker of the kind '${runtime.kind}' needs the command that starts it. ` +
          `Known kinds: ${Object.keys(RUNTIMES).join(', ')}.`
        : "Give 'runtime.entry' or 'scripts.start': nothing says what is to be started.";
    return { path: ['scripts', 'start'], at: 'key', message };
  }
  if (manager === undefined || scripts.install !== undefined || known === undefined) {
    return { install: scripts.install, start };
  }
  const install = Object.hasOwn(known.install, manager) ? known.install[manager] : undefined;
  if (install !== undefined) return { install, start };
  const message =
    `No install command is known for '${manager}'. Known with '${runtime.kind}': ` +
    `${Object.keys(known.install).join(', ')}. Give scripts.install instead.`;
  return { path: ['runtime', 'package_manager'], at: 'value', message };
}

/** What is wrong with a name, in words. */
export function nameOffence(name: string): string | undefined {
  if (WORKER_NAME.test(name)) return undefined;
  const rule = 'Must be 1 to 63 letters, digits, dots, dashes or underscores, and begin with a letter or digit';
  return `${rule}, found '${name}'.`;
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
