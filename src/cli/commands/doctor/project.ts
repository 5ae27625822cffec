// The checks of `svc doctor` for the configuration: its warnings, data directories and ports.

import { constants, existsSync, statfsSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { storeFolders } from '../../../config/load.ts';
import { isLoopbackHost } from '../../../core/access/origin.ts';
import { startWarnings } from '../../../engine/start-checks.ts';
import { fileSystemOffence } from '../../../store/directory/store-folder.ts';
import { isRecord, numberIn, textIn } from '../../text/records.ts';
import { certificateFindings } from './certificates.ts';
import { type Finding, fail, ok, type Project, warn } from './finding.ts';

const MIB = 1024 * 1024;
/** The limit of the store: below it, only writes that free space are accepted. */
const RESERVE_BYTES = 256 * MIB;
const RESERVE_SHARE = 0.02;

export async function projectFindings(project: Project, nowMs: number): Promise<Finding[]> {
  const { config, startedIn } = project;
  const warnings = startWarnings(config, undefined).map((text) =>
    warn('configuration', text.trim(), 'See docs/configuration.md, and SECURITY.md.'),
  );
  const folders = await Promise.all(storeFolders(config, startedIn).map((folder) => folderFindings(folder, project)));
  const ports = await Promise.all(portsOf(project).map((port) => portFinding(port, project)));
  return [...warnings, ...folders.flat(), ...ports, ...certificateFindings(config, nowMs), consoleFinding(project)];
}

async function folderFindings(folder: string, { engineRuns }: Project): Promise<Finding[]> {
  const name = 'data directory';
  if (!existsSync(folder)) return [await missingFolder(folder, engineRuns)];
  if (!(await isWritable(folder))) {
    return [fail(name, `${folder} cannot be written`, 'Make the user of the engine its owner.')];
  }
  const offence = fileSystemOffence(folder);
  if (offence !== undefined) return [fail(name, `${folder} ${offence}`, 'Move it and change file_path.')];
  const { bavail, blocks, bsize } = statfsSync(folder);
  const free = `${Math.floor((bavail * bsize) / MIB)} MiB free`;
  if (bavail * bsize < Math.max(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE)) {
    return [fail(name, `${folder} has ${free}: writes are refused`, 'Free space on that disk.')];
  }
  return [ok(name, `${folder} can be written, ${free}`)];
}

/** The engine creates it at its first start, if it has permission. */
async function missingFolder(folder: string, engineRuns: boolean): Promise<Finding> {
  const name = 'data directory';
  let above = dirname(folder);
  while (!existsSync(above)) above = dirname(above);
  if (!(await isWritable(above))) {
    return fail(name, `${folder} cannot be created: ${above} is not a writable folder`, 'Change file_path.');
  }
  const found = engineRuns
    ? warn(
        name,
        `${folder} does not exist: the running engine keeps its data elsewhere, or in memory`,
        'Start the engine of this file; with svc dev, add --keep.',
      )
    : ok(name, `${folder} does not exist yet; the first start creates it`);
  const make = async () => void (await mkdir(folder, { recursive: true, mode: 0o700 }));
  return { ...found, repair: { text: `create ${folder}`, run: make } };
}

async function isWritable(folder: string): Promise<boolean> {
  return await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Which machines the engine's part of the console answers (X4). */
function consoleFinding({ config }: Project): Finding {
  const name = 'console';
  const http = config.modules.find((module) => module.name === 'svc-http');
  if (http === undefined) return ok(name, 'not available: it needs the module svc-http');
  const isOpen = isRecord(http.config) && !isLoopbackHost(textIn(http.config, 'host'));
  if (!isOpen) return ok(name, 'answers only this machine');
  const hasToken = config.settings.bridge_token !== undefined;
  return ok(
    name,
    `answers this machine; other machines ${hasToken ? 'need the bridge token' : 'are refused without bridge_token'}`,
  );
}

interface Port {
  readonly module: string;
  readonly host: string;
  readonly port: number;
}

function portsOf({ config }: Project): Port[] {
  return config.modules.flatMap(({ name, config: settings }) => {
    if (!isRecord(settings)) return [];
    const port = numberIn(settings, 'port');
    // 0 means any free port.
    return port === undefined || port === 0 ? [] : [{ module: name, host: textIn(settings, 'host'), port }];
  });
}

async function portFinding({ module, host, port }: Port, { engineRuns }: Project): Promise<Finding> {
  const name = `port ${port}`;
  const error = await tryToListen(host, port);
  if (error === undefined) {
    if (!engineRuns) return ok(name, `free for ${module}`);
    return warn(name, `free, although an engine runs: it does not use ${module} of this file`, 'Restart that engine.');
  }
  if (error !== 'EADDRINUSE')
    return fail(name, `${host} is not an address to listen on (${error})`, `Change host of ${module}.`);
  if (engineRuns) return ok(name, `in use, and an engine runs (${module})`);
  return fail(name, `taken by another program (${module})`, `Stop that program, or change port of ${module}.`);
}

async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
