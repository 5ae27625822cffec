// A command that is pasted from the documentation must be valid: every line with `svc` in README.md, docs/ and the
// READMEs of templates is one that the command line accepts. Other tests check what the commands do.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOGUE } from '../../../../src/cli/catalogue.ts';
import { parseArguments } from '../../../../src/cli/kernel/arguments.ts';
import { routeArguments } from '../../../../src/cli/kernel/catalogue.ts';
import { GLOBAL_FLAGS } from '../../../../src/cli/kernel/flags.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const TEMPLATES = 'src/cli/templates';
const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(ROOT, TEMPLATES)).map((name) => `${TEMPLATES}/${name}/README.md`),
].filter((page) => readdirSync(join(ROOT, page, '..')).includes('README.md'));

/** A placeholder, or one of several choices. */
const PLACEHOLDER = /[<>[\]|…]|\.\.\./;

test.each(pages)('every command in %s is valid', async (page) => {
  const problems: string[] = [];
  const { lines, mentions } = commandsIn(readFileSync(join(ROOT, page), 'utf8'));
  for (const line of [...lines, ...mentions]) {
    // A sentence may name a command without its operands.
    const problem = await problemOf(line, lines.includes(line));
    if (problem !== undefined) problems.push(`${line}: ${problem}`);
  }
  expect(problems).toEqual([]);
});

/** Lines to paste, and commands that a sentence mentions. */
function commandsIn(text: string): { lines: string[]; mentions: string[] } {
  const blocks = [...text.matchAll(/^```(?:sh|bash|console)\b[^\n]*\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => block,
  );
  const spans = [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  const tidy = (found: readonly string[]): string[] =>
    found
      .map((line) =>
        line
          .replace(/\s#\s.*$/, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      )
      .filter((line) => /^(?:npx )?svc /.test(line) && !PLACEHOLDER.test(line));
  const lines = blocks.flatMap((block) => block.split('\n')).flatMap((line) => line.split(/&&|\s\|\s/));
  return { lines: tidy(lines), mentions: tidy(spans) };
}

async function problemOf(line: string, isWhole: boolean): Promise<string | undefined> {
  const words = [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
  try {
    const route = routeArguments(words.slice(words.indexOf('svc') + 1), CATALOGUE);
    if (route.kind !== 'command') return undefined;
    const { flags, operands: { min, max } = { min: 0, max: 0 } } = await route.entry.load();
    const { operands } = parseArguments(route.args, { ...GLOBAL_FLAGS, ...flags }, {});
    return operands.length > max || (isWhole && operands.length < min) ? `${operands.length} operands` : undefined;
  } catch (error) {
    return String(error);
  }
}
