import { expect, test } from 'vitest';
import manifest from '../../../../src/sdk/package.json' with { type: 'json' };
import { SDK_VERSION } from '../../../../src/sdk/worker/announcement.ts';

test('[SDK-15] the version the SDK announces is the one of its package', () => {
  expect(SDK_VERSION).toBe(manifest.version);
});
