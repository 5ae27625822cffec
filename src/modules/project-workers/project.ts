// A worker project on disk: its manifest, and whether its dependencies are installed.
//
// After an installation, `.svc/installed` of the project holds a digest of everything that decides it, so that a
// repeated start installs nothing and a start after a change of dependencies does.

import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readManifest } from '../../config/manifest.ts';
import { formatProblem } from '../../config/problem.ts';
import { readConfigFile } from '../../config/read-file.ts';
import { checkValue } from '../../core/config-fields/fields-check.ts';
import {
  MANIFEST_FILE,
  manifestSchema,
  type ProjectWorker,
  type WorkerCommands,
  type WorkerManifest,
} from '../../core/workers/worker-manifest.ts';

export interface Project {
  readonly folder: string;
  readonly manifest: WorkerManifest;
  readonly commands: WorkerCommands;
}

/** `path` is the folder, or the manifest itself. Throws an `Error` that names file, line and column. */
export async function readProject(path: string): Promise<Project> {
  const folder = path.endsWith('.yaml') || path.endsWith('.yml') ? dirname(resolve(path)) : resolve(path);
  const file = folder === resolve(path) ? join(folder, MANIFEST_FILE) : resolve(path);
  const text = await readConfigFile(file);
  if (!text.ok) throw new Error(text.problem.message);
  const read = readManifest(text.text, file);
  if (!read.ok) throw new Error(read.problems.map((problem) => formatProblem(problem)).join('\n'));
  return { folder, manifest: read.manifest, commands: read.commands };
}

/** The project of an entry: its folder and the commands of the entry itself, or of the manifest in the folder. */
export async function projectOf({ name, scripts }: ProjectWorker, path: string): Promise<Project> {
  if (scripts === undefined) return await readProject(path);
  const checked = checkValue(manifestSchema, { name, runtime: { kind: 'shell' }, scripts });
  if (!checked.ok) throw new Error(`The commands of the worker '${name}' are no manifest`);
  return { folder: resolve(path), manifest: checked.value, commands: scripts };
}

const MARK = join('.svc', 'installed');
const DECIDING_FILES = ['package.json', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'requirements.txt'];

export async function needsInstall({ folder, commands }: Project): Promise<boolean> {
  if (commands.install === undefined) return false;
  const mark = await readFile(join(folder, MARK), 'utf8').catch(() => undefined);
  return mark?.trim() !== (await digest(folder, commands.install));
}

/** Called after the command, which may itself write a lock file. */
export async function rememberInstall({ folder, commands }: Project): Promise<void> {
  if (commands.install === undefined) return;
  await mkdir(join(folder, '.svc'), { recursive: true });
  await writeFile(join(folder, MARK), `${await digest(folder, commands.install)}\n`);
}

async function digest(folder: string, command: string): Promise<string> {
  const hash = createHash('sha256').update(command);
  for (const name of DECIDING_FILES) {
    const text = await readFile(join(folder, name)).catch(() => undefined);
    if (text !== undefined) hash.update(`\n${name}\n`).update(text);
  }
  return hash.digest('hex');
}
