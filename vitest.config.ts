import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Packages are imported as Node imports them.
    deps: { interopDefault: false },
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
