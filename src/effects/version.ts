// The version of this package, from its own package.json.

import { readFileSync } from 'node:fs';

/** From `src/effects` it lies two folders up, from `dist/src/effects` three. */
const PLACES = ['../../package.json', '../../../package.json'];

export function engineVersion(): string {
  for (const place of PLACES) {
    const manifest = readManifest(new URL(place, import.meta.url));
    if (manifest?.name === 'svc' && typeof manifest.version === 'string') return manifest.version;
  }
  throw new Error('No package.json of svc beside the program names a version');
}

function readManifest(url: URL): { name?: unknown; version?: unknown } | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(url, 'utf8'));
    return typeof manifest === 'object' && manifest !== null ? manifest : undefined;
  } catch {
    // Not there: the other place has it.
    return undefined;
  }
}
