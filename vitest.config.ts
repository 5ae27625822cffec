import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Packages are imported as Node imports them.
    deps: { interopDefault: false },
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    // On the two cores of CI most tests wait for processes and sockets rather than for a core.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
