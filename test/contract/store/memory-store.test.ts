import { afterAll } from 'vitest';
import { type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';
import { storeContract } from './store-contract.ts';

let opened: OpenedTestStore;

storeContract('memory', async () => {
  opened = await openTestStore({ kind: 'memory' });
  return { store: opened.store };
});

afterAll(() => opened.registry.close());
