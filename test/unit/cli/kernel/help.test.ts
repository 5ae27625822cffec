import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../../../src/cli/catalogue.ts';
import { parseArguments } from '../../../../src/cli/kernel/arguments.ts';
import { routeArguments } from '../../../../src/cli/kernel/catalogue.ts';
import { type Flag, OUTPUT_FLAGS } from '../../../../src/cli/kernel/flags.ts';
import { formatCommandHelp, formatRootHelp } from '../../../../src/cli/kernel/help.ts';
import { TOPICS } from '../../../../src/cli/kernel/help-topics.ts';

const commands = await Promise.all(CATALOGUE.entries.map(async (entry) => ({ entry, command: await entry.load() })));

describe.each(commands)('svc $entry.name', ({ entry, command }) => {
  test('[CLI-7] its help fits into 79 columns and names every flag with default and variable', () => {
    const text = formatCommandHelp(command);
    expect(widest(text)).toBeLessThan(80);
    const words = text.replace(/\s+/g, ' ');
    for (const [name, flag] of Object.entries<Flag>({ ...OUTPUT_FLAGS, ...command.flags })) {
      expect(words).toContain(`--${name}`);
      if (flag.kind !== 'switch' && flag.fallback !== undefined) expect(words).toContain(`default ${flag.fallback}`);
      if (flag.env !== undefined) expect(words).toContain(`environment ${flag.env}`);
    }
  });

  test('[CLI-7] its help shows two examples or more, and the parser accepts them', () => {
    expect(command.examples.length).toBeGreaterThanOrEqual(2);
    for (const { line } of command.examples) {
      expect(formatCommandHelp(command)).toContain(line);
      const [program, ...args] = splitWords(line);
      expect(program).toBe('svc');
      const route = routeArguments(args, CATALOGUE);
      if (route.kind === 'command') {
        expect(() => parseArguments(route.args, { ...OUTPUT_FLAGS, ...command.flags }, {})).not.toThrow();
      }
    }
  });

  test('[CLI-7] its line in the overview equals its summary', () => {
    expect(entry.summary).toBe(command.summary);
    expect(entry.aliasOf ?? entry.name).toBe(command.name);
  });
});

describe('other help texts', () => {
  test('[CLI-7] the overview names every command and fits into 79 columns', () => {
    const text = formatRootHelp('1.2.3', CATALOGUE);
    expect(widest(text)).toBeLessThan(80);
    for (const { entry } of commands) {
      if (entry.aliasOf === undefined) expect(text).toContain(`  ${entry.name} `);
    }
  });

  test.each(Object.entries(TOPICS))('[CLI-7] the topic %s fits into 79 columns', (_name, text) => {
    expect(widest(text())).toBeLessThan(80);
    expect(text().split('\n').length).toBeGreaterThan(5);
  });
});

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

/** Splits an example as a shell does; only single quotes are supported. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));
}
