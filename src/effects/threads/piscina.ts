// Piscina's CommonJS files. Its ES module only wraps them, and Node scans their text for names first: a thread loads
// them in half of the time without it.

import { createRequire } from 'node:module';

export const { Piscina, move }: typeof import('piscina') = createRequire(import.meta.url)('piscina');
