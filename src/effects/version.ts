// The version of this package, from its own package.json.

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Two folders up from `src/effects`, and from the bundle in `dist/engine`. */
const PACKAGE_PATH = '../../package.json';

export function engineVersion(): string {
  return ownPackage().version;
}

/** The folder of this package: a checkout, or where it was installed. */
export function packageRoot(): string {
  return dirname(fileURLToPath(ownPackage().url));
}

function ownPackage(): { readonly url: URL; readonly version: string } {
  const url = new URL(PACKAGE_PATH, import.meta.url);
  const manifest = readManifest(url);
  if (manifest?.name === 'svc' && typeof manifest.version === 'string') return { url, version: manifest.version };
  throw new Error('No package.json of svc next to the program names a version');
}

function readManifest(url: URL): { name?: unknown; version?: unknown } | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(url, 'utf8'));
    return typeof manifest === 'object' && manifest !== null ? manifest : undefined;
  } catch {
    // Missing, or not JSON: the caller reports that.
    return undefined;
  }
}
