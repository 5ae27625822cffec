import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const UNIT = 'test/unit/**/*.test.ts';

export default defineConfig({
  test: {
    // Packages are imported as Node imports them.
    deps: { interopDefault: false },
    // For the threads and processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    reporters: ['default', './test/support/count-reporter.ts'],
    // On the two cores of CI most tests wait for processes and sockets rather than for a core.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      // What they test keeps nothing outside of its objects: a process for each file would only cost time.
      // Most of them only compute. A short limit would fail them on a busy machine and find no fault.
      { extends: true, test: { name: 'unit', include: [UNIT], isolate: false, testTimeout: 120_000 } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [UNIT] } },
    ],
  },
});
