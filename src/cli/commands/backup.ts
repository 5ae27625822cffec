import { resolve } from 'node:path';
import { systemClock } from '../../effects/clock.ts';
import { storeFolders } from '../../store-places.ts';
import { type Context, defineCommand } from '../command.ts';
import { assertFileThere, CONFIG_FLAGS, readConfiguration } from '../configuration.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { tellCopy } from '../copy-progress.ts';
import { EXIT } from '../exit-codes.ts';
import { storeFailure } from '../store-failure.ts';

const FLAGS = { ...CONFIG_FLAGS, ...CONNECTION_FLAGS };
type BackupContext = Context<typeof FLAGS>;

export const backup = defineCommand({
  name: 'backup',
  summary: 'Copy the stores, consistently, and verify the copy.',
  details: [
    'The running engine makes the copy, while it goes on working; where none runs, the command makes it itself. ' +
      'The folder must not exist yet. Every record of the copy is checked before the command ends. ' +
      'Traces and logs that trace_storage keeps are left out.',
  ],
  operands: { usage: '<dir>', min: 1, max: 1, help: 'Folder of the backup; it must not exist yet.', kinds: ['file'] },
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc backup /backups/monday', shows: 'Copies every store of svc-config.yaml there.' },
    { line: 'svc backup ../copy --config staging.yaml --json', shows: 'The same for another file, for a script.' },
  ],
  exitCodes: [EXIT.unreachable, EXIT.refused, EXIT.conflict, EXIT.storage, EXIT.configuration],
  hostsEngine: true,
  checkFirst: ({ flags, terminal }) => assertFileThere(flags.config, terminal),
  async run(context) {
    const { operands, output, terminal, flags } = context;
    const target = resolve(terminal.cwd, operands[0] ?? '');
    const { config } = await readConfiguration(flags.config, terminal);
    try {
      const folders = storeFolders(config, terminal.cwd);
      const order = { from: folders, to: [`${target}.partial-`], word: 'copied' };
      await tellCopy(order, context, () => copyTo(target, folders, context));
      const { verifyBackup } = await import('../../store/restore.ts');
      const stores = await verifyBackup(target);
      const lines = stores.map(({ folder, entries }) => `  ${folder}: ${entries} records`);
      output.printDocument({ backup: target, stores }, [`Backed up to ${target}, and verified:`, ...lines].join('\n'));
      return EXIT.done;
    } catch (error) {
      throw storeFailure(error);
    }
  },
});

/** A directory that is locked has an engine: that one makes the copy. */
async function copyTo(target: string, folders: readonly string[], context: BackupContext): Promise<void> {
  const { lockDirectory, StoreInUse } = await import('../../store/directory-lock.ts');
  const { assertNew, backUp } = await import('../../store/backup.ts');
  // Whoever makes the copy: the answer is the same.
  assertNew(target);
  const { openSources } = await import('../../store/offline.ts');
  try {
    const sources = await openSources(folders, lockDirectory);
    try {
      await backUp(target, sources.list, systemClock.nowMs());
    } finally {
      sources.close();
    }
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    await withEngine(context, (engine) => engine.call('engine::stores::backup', { path: target }));
  }
}
