// The templates of `svc create`: folders next to this file, which are copied and adapted. Nothing is downloaded.
//
// A template consists of its own folder and of shared folders. Two things change in the copy: the name of the package,
// and the versions of the svc packages, which the templates give as `*`.

import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engineVersion, packageRoot } from '../effects/version.ts';
import { ENGINE_NODE_MIN, isEngineNode } from './engine/pinned-node.ts';
import { isRecord, type JsonRecord } from './text/records.ts';

export interface Template {
  readonly name: string;
  readonly summary: string;
  readonly language: 'ts' | 'python';
  /** A command to try when the project runs. */
  readonly tryLine: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    name: 'quickstart',
    summary: 'One worker with one function, also over HTTP',
    language: 'ts',
    tryLine: 'npx svc trigger greet::hello name=Ada',
  },
  {
    name: 'http-api',
    summary: 'Orders over HTTP, kept in the state',
    language: 'ts',
    tryLine: 'curl http://127.0.0.1:3111/orders',
  },
  {
    name: 'queue-worker',
    summary: 'Jobs with retries and dead letters',
    language: 'ts',
    tryLine: `curl http://127.0.0.1:3111/sign-up -H 'content-type: application/json' -d '{"to":"ann@example.org"}'`,
  },
  {
    name: 'realtime-chat',
    summary: 'A page where people chat, over streams',
    language: 'ts',
    tryLine: 'npx svc trigger chat::send room=lobby from=Ada text=hello',
  },
  {
    name: 'cron-report',
    summary: 'A report built on a schedule',
    language: 'ts',
    tryLine: 'curl http://127.0.0.1:3111/report',
  },
  {
    name: 'demo',
    summary: 'Two workers that use every part of the engine',
    language: 'ts',
    tryLine: 'npx svc trace list',
  },
  {
    name: 'python-worker',
    summary: 'A worker in Python, with its own client',
    language: 'python',
    tryLine: "npx svc trigger words::count text='to be or not to be'",
  },
];

const FOLDER = fileURLToPath(new URL('templates/', import.meta.url));

const SHARED = { ts: ['common', 'typescript'], python: ['common'] } as const;

/** Writes the template into the folder and overwrites existing files. */
export async function writeTemplate({ name, language }: Template, target: string): Promise<void> {
  await writeParts([...SHARED[language], name], target);
}

/** A single worker: a manifest, one function, a test. Its files contain `__name__` in place of its name. */
export async function writeWorker(language: 'ts' | 'js', name: string, target: string): Promise<readonly string[]> {
  const part = `worker-${language}`;
  await writeParts(['common', part], target);
  const entries = await readdir(join(FOLDER, part), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(FOLDER, join(entry.parentPath, entry.name)));
  const written = files.map((file) => relative(part, file));
  for (const file of written) {
    const text = await readFile(join(target, file), 'utf8');
    await writeFile(join(target, file), text.replaceAll('__name__', name));
  }
  return written.sort();
}

async function writeParts(parts: readonly string[], target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const part of parts) await cp(join(FOLDER, part), target, { recursive: true });
  // An npm package cannot contain a file named `.gitignore` or `.npmrc`.
  for (const name of ['gitignore', 'npmrc']) await rename(join(target, name), join(target, `.${name}`));
  const file = join(target, 'package.json');
  const manifest = await ownManifest(await readFile(file, 'utf8'), basename(target));
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  // npm itself then runs on an older Node than the project.
  if (manifest.engines === undefined) await rm(join(target, '.npmrc'));
}

export async function isEmptyFolder(path: string): Promise<boolean> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.length === 0;
}

/**
 * A dependency on one of the svc packages: its folder in a checkout, or the installed one. With a version, npm would
 * look in a registry, where the name `svc` belongs to another project.
 */
function ourRange(name: string): string {
  const root = packageRoot();
  const isInstalled = root.split(sep).includes('node_modules');
  const folder = isInstalled ? join(root, '..', name) : join(root, OUR_PACKAGES[name] ?? '');
  return existsSync(folder) ? `file:${folder}` : `^${engineVersion()}`;
}

const OUR_PACKAGES: Readonly<Record<string, string>> = {
  svc: '',
  'svc-sdk': 'src/sdk',
  'svc-browser-sdk': 'src/browser-sdk',
};

/** The package manifest with the name of the project and real versions. */
async function ownManifest(text: string, folderName: string): Promise<JsonRecord> {
  const manifest = recordIn(JSON.parse(text));
  return {
    ...manifest,
    name: packageName(folderName),
    dependencies: withOurRanges(manifest.dependencies),
    ...(isRecord(manifest.devDependencies) && { devDependencies: withOurRanges(manifest.devDependencies) }),
    ...(await floorOfNode()),
  };
}

function withOurRanges(dependencies: unknown): JsonRecord {
  const pairs = Object.entries(recordIn(dependencies));
  return Object.fromEntries(pairs.map(([name, range]) => [name, range === '*' ? ourRange(name) : range]));
}

/**
 * npm refuses to install the project on a Node that is too old for it. When the Node of the shell already is, the
 * project gets the Node of the engine, where there is one, and its scripts use that.
 */
async function floorOfNode(): Promise<{ engines?: JsonRecord; optionalDependencies?: JsonRecord }> {
  const floor = { engines: { node: `>=${ENGINE_NODE_MIN.major}.${ENGINE_NODE_MIN.minor}` } };
  if (isEngineNode(process.versions.node)) return floor;
  const ours = recordIn(JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')));
  const pins = Object.entries(recordIn(ours.optionalDependencies)).filter(([name]) => name.startsWith('node-'));
  return pins.length === 0 ? floor : { optionalDependencies: Object.fromEntries(pins) };
}

function recordIn(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Converts the text to a name that npm accepts. */
export function packageName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'project' : name;
}
