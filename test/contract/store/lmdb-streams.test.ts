import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { directory, type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';
import { streamContract } from './stream-contract.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'svc-streams-'));
let opened: OpenedTestStore;

streamContract('lmdb', async () => {
  opened = await openTestStore(directory(FOLDER));
  const restart = async () => {
    await opened.registry.close();
    opened = await openTestStore(directory(FOLDER));
    return opened.store;
  };
  return { store: opened.store, restart };
});

afterAll(async () => {
  await opened.registry.close();
  await rm(FOLDER, { recursive: true, force: true });
});
