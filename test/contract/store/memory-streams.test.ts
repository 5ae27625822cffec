import { afterAll } from 'vitest';
import { type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';
import { streamContract } from './stream-contract.ts';

let opened: OpenedTestStore;

streamContract('memory', async () => {
  opened = await openTestStore({ kind: 'memory' });
  return { store: opened.store };
});

afterAll(() => opened.registry.close());
