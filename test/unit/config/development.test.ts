import { expect, test } from 'vitest';
import { forDevelopment } from '../../../src/config/development.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { declareModules } from '../../../src/engine/start-checks.ts';

const FILE = `
workers:
  - name: svc-http
  - name: state
  - name: svc-queue
    config: {adapter: {name: builtin, config: {store_method: file_based, file_path: ./data}}}
  - name: svc-stream
    config: {port: 0}
`;

function adapted(keep: boolean) {
  const read = loadConfig({ text: FILE, file: 'svc-config.yaml', env: {}, ...declareModules() });
  if (!read.ok) throw new Error('The file of this test is wrong');
  const { modules } = forDevelopment(read.config, { keep, portOffset: 100 });
  return Object.fromEntries(modules.map(({ name, config, adapter }) => [name, { config, adapter: adapter?.config }]));
}

test('svc dev keeps every store in memory, whether or not the file names it', () => {
  const modules = adapted(false);
  expect(modules).toMatchObject({
    'svc-state': { adapter: { store_method: 'in_memory' } },
    'svc-queue': { adapter: { store_method: 'in_memory' } },
    'svc-stream': { adapter: { store_method: 'in_memory' } },
  });
});

test('svc dev --keep leaves the stores as configured', () => {
  expect(adapted(true)).toMatchObject({
    'svc-state': { adapter: { store_method: 'file_based' } },
    'svc-queue': { adapter: { store_method: 'file_based' } },
  });
});

test('svc dev moves every port by the offset, default ports too, and leaves port 0 as it is', () => {
  expect(adapted(false)).toMatchObject({
    'svc-worker-manager': { config: { port: 49_234 } },
    'svc-http': { config: { port: 3_211 } },
    'svc-stream': { config: { port: 0 } },
  });
});
