import { afterAll } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { builtinAdapter } from '../../../src/modules/queue/adapters/builtin.ts';
import { directory, type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { queueContract } from './queue-contract.ts';

const folder = new TemporaryFolder();
let opened: OpenedTestStore | undefined;

queueContract('builtin', {
  async create() {
    opened ??= await openTestStore(directory(folder.path));
    return builtinAdapter(opened.store, systemClock);
  },
  lacks: ['sharing'],
});

afterAll(async () => {
  await opened?.registry.close();
  folder[Symbol.dispose]();
});
