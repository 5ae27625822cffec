import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

test('[SDK-15] docs/sdk.md matches the doc comments of the SDK; npm run docs writes it', {
  timeout: 60_000,
}, () => {
  const page = execFileSync(process.execPath, [at('bin/sdk-reference.js')], { encoding: 'utf8' });
  expect(readFileSync(at('docs/sdk.md'), 'utf8')).toBe(page);
  const sections = page.split(/^## /m).slice(1);
  expect(sections.length).toBeGreaterThan(50);
  // A name, a sentence, a declaration.
  for (const section of sections) expect(section).toMatch(/^\w+\n\n\S[\s\S]*?\n\n```ts\n/);
});
