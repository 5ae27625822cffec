// The exports and the size of `svc-browser-sdk`, without a browser.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import manifest from '../../src/browser-sdk/package.json' with { type: 'json' };
import serverManifest from '../../src/sdk/package.json' with { type: 'json' };

const SOURCES = join(import.meta.dirname, '../../src');
const DIST = join(SOURCES, 'browser-sdk/dist');
const PARTS = [
  ...['channels', 'checked-handler', 'http', 'incoming-calls', 'log-by-call', 'queue-client'],
  ...['retry', 'shutdown', 'state-client', 'streams', 'triggers'],
];
/** The first window of TCP: ten segments of 1 460 bytes. */
const BYTES_MAX = 15_000;
const REACT_BYTES_MAX = 2_500;
const sizeOf = (name: string): number => gzipSync(readFileSync(join(DIST, `${name}.js`)), { level: 9 }).length;

test('[SDK-13] The code that a page loads before its first call has 15 kB at most', () => {
  const index = sizeOf('index');
  const parts = PARTS.map((name) => `${name} ${sizeOf(name)}`);
  process.stdout.write(`svc-browser-sdk, gzipped: index ${index} of ${BYTES_MAX} bytes; ${parts.join(', ')}\n`);
  expect(index).toBeLessThanOrEqual(BYTES_MAX);
});

test('[SDK-14] The hooks for React have 2.5 kB at most, and load only React', () => {
  const size = sizeOf('react');
  process.stdout.write(`svc-browser-sdk/react, gzipped: ${size} of ${REACT_BYTES_MAX} bytes\n`);
  expect(size).toBeLessThanOrEqual(REACT_BYTES_MAX);
  const code = readFileSync(join(DIST, 'react.js'), 'utf8');
  // It allows components that a server renders in part to import it.
  expect(code).toMatch(/^"use client";/);
  expect(loadedBy(code)).toEqual(new Set(['react']));
});

test('[SDK-13] It contains nothing of Node, and loads only its own files', () => {
  for (const name of ['index', ...PARTS]) {
    const code = readFileSync(join(DIST, `${name}.js`), 'utf8');
    expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b|\beval\(|new Function\(/);
    for (const file of loadedBy(code)) expect(['index', ...PARTS].map((part) => `./${part}.js`)).toContain(file);
  }
});

test('[SDK-13] It exports what the SDK for Node exports', () => {
  const ofNode = namesIn('sdk/index.ts');
  const doors = ['index', 'http', 'triggers'].map((door) => namesIn(`browser-sdk/${door}.ts`));
  const ofBrowser = new Set(doors.flatMap((names) => [...names]));
  expect([...ofNode].filter((name) => !ofBrowser.has(name))).toEqual(['TlsOptions', 'WorkerOptions']);
  expect([...ofBrowser].filter((name) => !ofNode.has(name))).toEqual(['BrowserOptions']);
  expect(manifest.version).toBe(serverManifest.version);
});

/** The imports of a minified file. */
function loadedBy(code: string): Set<string | undefined> {
  const matches = [...code.matchAll(/\bfrom"([^"]+)"|\bimport\("([^"]+)"\)/g)];
  return new Set(matches.map(([, first, second]) => first ?? second));
}

/** The exports of an entry point by name, types included. */
function namesIn(door: string): Set<string> {
  const text = readFileSync(join(SOURCES, door), 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap(([, list = '']) => list.split(','));
  const names = lists.map((name) => name.trim().replace(/^type /, '')).filter((name) => name !== '');
  const everything = [...text.matchAll(/^export \* from '.*\/(.*)'/gm)].map(([, file]) => `* of ${file}`);
  const own = [...text.matchAll(/^export (?:function|class|const|interface) (\w+)/gm)].map(([, name = '']) => name);
  return new Set([...names, ...everything, ...own]);
}
