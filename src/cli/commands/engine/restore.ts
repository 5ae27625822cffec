import { resolve } from 'node:path';
import { systemClock } from '../../../effects/clock.ts';
import { storeFolders } from '../../../engine/store-places.ts';
import { storeFailure } from '../../engine/store-failure.ts';
import { defineCommand } from '../../kernel/command.ts';
import { assertFileThere, CONFIG_FLAGS, readConfiguration } from '../../kernel/configuration.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { tellCopy } from '../state/copy-progress.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Replace the stores with those of a backup.',
  details: [
    'Stop the engine first. The backup is verified before anything changes; the current stores are kept under ' +
      'another   name. Stream clients take a new snapshot afterwards.',
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
    const { restore: restoreStores } = await import('../../../store/place/restore.ts');
    try {
      const folders = storeFolders(config, terminal.cwd);
      const order = { from: [source], to: folders.map((folder) => `${folder}.restoring-`), word: 'restored' };
      const stores = await tellCopy(order, context, () => restoreStores(source, folders, systemClock.nowMs()));
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
