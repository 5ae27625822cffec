import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { builtThreads } from './test/support/built-threads.ts';
import SlowFirst from './test/support/slow-first.ts';

const UNIT = 'test/unit/**/*.test.ts';
const E2E = 'test/e2e/**/*.test.ts';
const TWO_ROUTERS = [
  'test/e2e/data/{state-triggers,streams}.test.ts',
  'test/contract/console/console-{routes,data}.test.ts',
];
const TWO_ENGINES = [
  'test/e2e/data/state-triggers.test.ts',
  'test/e2e/{queues/queue-topics,observability/payloads}.test.ts',
];
const ONE_ENGINE = './test/support/cluster/one-engine-tests.ts';
const ALONE = 'test/e2e/{http/http-slow*,wire/*}.test.ts';

export default defineConfig({
  plugins: [builtThreads()],
  test: {
    // Packages are imported as Node imports them.
    deps: { interopDefault: false },
    // For the threads and processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    sequence: { sequencer: SlowFirst },
    reporters: ['default', './test/support/count-reporter.ts'],
    // On the two cores of CI most tests wait for processes and sockets rather than for a core.
    maxWorkers: 4,
    // Far above what a test takes: a short limit fails tests on a busy machine and finds no fault.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // What these test keeps nothing outside of its objects: a process for each file would only cost time.
      { extends: true, test: { name: 'unit', include: [UNIT], isolate: false, testTimeout: 120_000 } },
      {
        extends: true,
        test: { name: 'e2e', include: [E2E], exclude: [ALONE], isolate: false, setupFiles: ONE_ENGINE },
      },
      // These measure memory, flood their own process, or end it.
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [UNIT, E2E] } },
      { extends: true, test: { name: 'alone', include: [ALONE], setupFiles: ONE_ENGINE } },
      // The quick part of `npm run test:threads`.
      {
        extends: true,
        test: { name: 'two routers', include: TWO_ROUTERS, isolate: false, env: { SVC_TEST_THREADS: '2' } },
      },
      // The quick part of `npm run test:cluster`.
      {
        extends: true,
        test: { name: 'two engines', include: TWO_ENGINES, isolate: false, env: { SVC_TEST_CLUSTER: '1' } },
      },
    ],
  },
});
