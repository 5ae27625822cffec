// `svc backup` and `svc restore`: a verified copy of the stores, made by the engine that uses them or by this process,
// and the way back.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { storeFolders } from '../../../config/load.ts';
import { systemClock } from '../../../effects/clock.ts';
import { type BackupList, BackupRefused } from '../../../store/directory/backup.ts';
import { StoreInUse } from '../../../store/directory/store-folder.ts';
import { DamagedFile } from '../../../store/kv/lmdb-file.ts';
import { withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { assertFileThere, CONFIG_FLAGS, readConfiguration } from '../../kernel/configuration.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { ProgressLine, type ProgressTarget } from '../../text/progress-line.ts';
import { isRecord, recordsIn, textIn } from '../../text/records.ts';

const { fallback: URL_DEFAULT, ...URL_FLAG } = CONNECTION_FLAGS.url;

/** Without a default: a named engine selects another kind of backup than the stores of a file. */
const FLAGS = {
  ...CONFIG_FLAGS,
  ...CONNECTION_FLAGS,
  url: { ...URL_FLAG, help: 'Address of the engine that makes the copy. Default: the stores of the configuration.' },
} as const;
type BackupContext = Context<typeof FLAGS>;

export const backup = defineCommand({
  name: 'backup',
  summary: 'Make a consistent copy of the stores and verify it.',
  details: [
    'An engine given by --url, SVC_URL or a context copies its own stores into a folder on its machine. Otherwise ' +
      'the stores of the configuration file are copied: by the engine that uses them, without interrupting it, or by ' +
      'this command when no engine runs.',
    'The folder must not exist yet. Every record of the copy is checked before the command ends; for a copy on ' +
      'another machine a warning says that it was not verified. Traces and logs of trace_storage are not included.',
  ],
  operands: { usage: '<dir>', min: 1, max: 1, help: 'Folder of the backup; it must not exist yet.', kinds: ['file'] },
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc backup /backups/monday', shows: 'Copies every store of svc-config.yaml there.' },
    { line: 'svc backup ../copy --config staging.yaml --json', shows: 'The same for another file, for a script.' },
    { line: 'svc backup /backups/now --url ws://127.0.0.1:49134', shows: 'Has that engine copy its stores.' },
  ],
  exitCodes: [EXIT.unreachable, EXIT.refused, EXIT.conflict, EXIT.storage, EXIT.configuration],
  hostsEngine: true,
  checkFirst(context) {
    const { flags, terminal } = context;
    if (!isEngineNamed(context)) assertFileThere(flags.config, terminal);
    else if (flags.config !== undefined) throw usageFailure(TWO_ORDERS);
  },
  async run(context) {
    const { operands, output, terminal } = context;
    const target = resolve(terminal.cwd, operands[0] ?? '');
    const { assertNew } = await import('../../../store/directory/backup.ts');
    try {
      // The answer has the same form, whether the engine or this process makes the copy.
      assertNew(target);
      if (isEngineNamed(context)) {
        const made = await askEngine(target, context);
        if (!(await isHere(made))) return printUnverified(made, context);
      } else {
        await copyStores(target, context);
      }
      const { verifyBackup } = await import('../../../store/directory/restore.ts');
      const stores = await verifyBackup(target);
      const lines = stores.map(({ folder, entries }) => `  ${folder}: ${entries} records`);
      const document = { backup: target, verified: true, stores };
      output.printDocument(document, [`Backed up to ${target}, and verified:`, ...lines].join('\n'));
      return EXIT.done;
    } catch (error) {
      throw storeFailure(error);
    }
  },
});

/** The flag of a file takes precedence over an engine from the environment. */
function isEngineNamed({ flags, terminal }: Pick<BackupContext, 'flags' | 'terminal'>): boolean {
  return flags.url !== undefined && !(flags.config !== undefined && flags.url === terminal.env.SVC_URL);
}

const TWO_ORDERS =
  '--config selects the stores of this machine; --url or a context selects those of an engine: give only one of them.';

/** The answer of an engine that made a copy of its stores. */
interface MadeCopy {
  readonly target: string;
  /** Without secrets. */
  readonly address: string;
  readonly answer: unknown;
  readonly folders: readonly string[];
}

async function askEngine(target: string, context: BackupContext): Promise<MadeCopy> {
  const url = context.flags.url ?? URL_DEFAULT;
  return await withEngine({ ...context, flags: { ...context.flags, url } }, async (engine) => {
    const answer = await engine.call('engine::stores::backup', { path: target });
    const folders = recordsIn(answer, 'stores').map((store) => textIn(store, 'folder'));
    return { target, address: engine.address, answer, folders };
  });
}

/** Whether the copy lies on this machine: the list in its folder has the same time and the same stores. */
async function isHere({ target, answer }: MadeCopy): Promise<boolean> {
  const { readList } = await import('../../../store/directory/backup.ts');
  const list: BackupList | undefined = await readList(target).catch(() => undefined);
  return list !== undefined && isRecord(answer) && isDeepStrictEqual({ ...list }, { ...answer });
}

function printUnverified({ target, address, folders }: MadeCopy, { output }: BackupContext) {
  const text = `${target} is on the machine of ${address}: this command could not verify the copy.`;
  output.warn(text);
  const document = { backup: target, engine: address, verified: false, stores: folders.map((folder) => ({ folder })) };
  output.printDocument(document, [`Backed up by ${address}:`, ...folders.map((folder) => `  ${folder}`)].join('\n'));
  return EXIT.done;
}

async function copyStores(target: string, context: BackupContext): Promise<void> {
  const { flags, terminal } = context;
  const { config } = await readConfiguration(flags.config, terminal);
  const folders = storeFolders(config, terminal.cwd);
  const options = { from: folders, to: [`${target}.partial-`], word: 'copied' };
  await showCopyProgress(options, context, () => copyTo(target, folders, context));
}

/** A locked directory is in use by an engine: that engine makes the copy. */
async function copyTo(target: string, folders: readonly string[], context: BackupContext): Promise<void> {
  const { lockDirectory, StoreInUse } = await import('../../../store/directory/store-folder.ts');
  const { backUp } = await import('../../../store/directory/backup.ts');
  const { openSources } = await import('../../../store/directory/restore.ts');
  try {
    const sources = await openSources(folders, lockDirectory);
    try {
      await backUp(target, sources.list, systemClock.nowMs());
    } finally {
      sources.close();
    }
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    assertStoresOf(folders, await askEngine(target, context));
  }
}

/** The engine at the default address may use other stores than those of the configuration. */
function assertStoresOf(folders: readonly string[], made: MadeCopy): void {
  const meant = folders.filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder));
  if (meant.some((folder) => made.folders.includes(folder))) return;
  throw new CliFailure({
    code: 'CONFLICT',
    message:
      `The stores of the configuration (${meant.join(', ')}) are in use by another engine than the one at ` +
      `${made.address}, which copied its own stores (${made.folders.join(', ')}) to ${made.target}.`,
    exitCode: EXIT.conflict,
    hint: 'Remove that folder, and give the address of the right engine with --url.',
  });
}

export const restore = defineCommand({
  name: 'restore',
  summary: 'Replace the stores with those of a backup.',
  details: [
    'Stop the engine first. The backup is verified before anything changes; the current stores are kept under ' +
      'another name. Stream clients take a new snapshot afterwards.',
  ],
  operands: { usage: '<dir>', min: 1, max: 1, help: 'Folder that svc backup made.', kinds: ['file'] },
  flags: CONFIG_FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc restore /backups/monday', shows: 'Restores the stores of svc-config.yaml from there.' },
    { line: 'svc restore ../copy --config staging.yaml', shows: 'The same for the stores of another file.' },
  ],
  exitCodes: [EXIT.conflict, EXIT.storage, EXIT.configuration],
  hostsEngine: true,
  checkFirst: ({ flags, terminal }) => assertFileThere(flags.config, terminal),
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const source = resolve(terminal.cwd, operands[0] ?? '');
    const { config } = await readConfiguration(flags.config, terminal);
    const { restore: restoreStores } = await import('../../../store/directory/restore.ts');
    try {
      const folders = storeFolders(config, terminal.cwd);
      const options = { from: [source], to: folders.map((folder) => `${folder}.restoring-`), word: 'restored' };
      const stores = await showCopyProgress(options, context, () =>
        restoreStores(source, folders, systemClock.nowMs()),
      );
      const lines = stores.map(({ folder, entries, movedTo }) => {
        const before = movedTo === undefined ? '' : `; the old store is now ${movedTo}`;
        return `  ${folder}: ${entries} records${before}`;
      });
      output.printDocument({ backup: source, stores }, [`Restored from ${source}:`, ...lines].join('\n'));
      return EXIT.done;
    } catch (error) {
      throw storeFailure(error);
    }
  },
});

function storeFailure(error: unknown): unknown {
  if (error instanceof BackupRefused) {
    return new CliFailure({ code: 'REFUSED', message: error.message, exitCode: EXIT.conflict });
  }
  if (error instanceof StoreInUse) {
    return new CliFailure({ code: 'STORE_IN_USE', message: error.message, exitCode: EXIT.conflict });
  }
  if (error instanceof DamagedFile) {
    return new CliFailure({
      code: 'STORAGE_CORRUPT',
      message: `A store is damaged: ${error.message}. Nothing was changed.`,
      exitCode: EXIT.storage,
      hint: 'Use another backup: damaged data cannot be repaired.',
    });
  }
  return error;
}

const POLL_MS = 200;
const MIB = 1024 * 1024;

interface CopyOptions {
  /** The folders to copy. */
  readonly from: readonly string[];
  /** Files appear in folders whose path begins with one of these. */
  readonly to: readonly string[];
  /** `copied`, `restored` */
  readonly word: string;
}

/** The progress of a copy is measured by the size of its files, because the engine may be the one that copies. */
export async function showCopyProgress<T>(
  { from, to, word }: CopyOptions,
  target: ProgressTarget,
  copy: () => Promise<T>,
): Promise<T> {
  const total = inMib(from.reduce((sum, folder) => sum + bytesBelow(folder), 0));
  const progress = new ProgressLine({ total, word: `MiB ${word}` }, target);
  const timer = setInterval(() => {
    const bytes = to.reduce((sum, start) => sum + bytesAt(start), 0);
    // A copy leaves out free pages, so it is never larger than its source.
    progress.update(Math.min(total, inMib(bytes)));
  }, POLL_MS);
  try {
    return await copy();
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

const inMib = (bytes: number): number => Math.ceil(bytes / MIB);

function bytesAt(start: string): number {
  const folder = dirname(start);
  const names = list(folder).filter((name) => name.startsWith(basename(start)));
  return names.reduce((sum, name) => sum + bytesBelow(join(folder, name)), 0);
}

function bytesBelow(folder: string): number {
  return list(folder, { recursive: true }).reduce((sum, name) => sum + bytesOf(join(folder, name)), 0);
}

/** A file that disappears meanwhile counts as 0. */
function list(folder: string, { recursive = false } = {}): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function bytesOf(path: string): number {
  const file = statSync(path, { throwIfNoEntry: false });
  return file?.isFile() === true ? file.size : 0;
}
