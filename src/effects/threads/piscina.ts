// Piscina's CommonJS files. Its ES module only wraps them, and Node scans their text for names first: a thread loads
// them in half of the time without it.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export function loadPiscina(): typeof import('piscina') {
  return require('piscina');
}
