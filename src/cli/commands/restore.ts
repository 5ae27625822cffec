import { resolve } from 'node:path';
import { systemClock } from '../../effects/clock.ts';
import { storeFolders } from '../../store-places.ts';
import { defineCommand } from '../command.ts';
import { assertFileThere, CONFIG_FLAGS, readConfiguration } from '../configuration.ts';
import { tellCopy } from '../copy-progress.ts';
import { EXIT } from '../exit-codes.ts';
import { storeFailure } from '../store-failure.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Put the stores of a backup in place of the present ones.',
  details: [
    'Stop the engine first. The backup is verified before anything is touched; what is there now is kept beside it ' +
      'under another name. Clients of streams take a fresh snapshot afterwards.',
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
    const { restore: restoreStores } = await import('../../store/restore.ts');
    try {
      const folders = storeFolders(config, terminal.cwd);
      const order = { from: [source], to: folders.map((folder) => `${folder}.restoring-`), word: 'restored' };
      const stores = await tellCopy(order, context, () => restoreStores(source, folders, systemClock.nowMs()));
      const lines = stores.map(({ folder, entries, movedTo }) => {
        const before = movedTo === undefined ? '' : `; what was there is now ${movedTo}`;
        return `  ${folder}: ${entries} records${before}`;
      });
      output.printDocument({ backup: source, stores }, [`Restored from ${source}:`, ...lines].join('\n'));
      return EXIT.done;
    } catch (error) {
      throw storeFailure(error);
    }
  },
});
