import { describe, expect, test } from 'vitest';
import { readManifest } from '../../../src/config/manifest.ts';

const read = (text: string) => readManifest(text, 'svc.worker.yaml');
const commandsOf = (text: string) => {
  const manifest = read(text);
  if (!manifest.ok) throw new Error(JSON.stringify(manifest.problems));
  return manifest.commands;
};
const problemsOf = (text: string) => {
  const manifest = read(text);
  return manifest.ok
    ? []
    : manifest.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
};

describe('a manifest', () => {
  test('names the commands that install and start its worker', () => {
    const text = `
name: orders
runtime: {kind: ruby, package_manager: bundler, entry: main.rb}
scripts: {install: bundle install, start: ruby main.rb}
`;
    expect(commandsOf(text)).toEqual({ install: 'bundle install', start: 'ruby main.rb' });
  });

  test.each([
    ['{kind: node, entry: index.js}', undefined, 'node index.js'],
    ['{kind: node, package_manager: npm, entry: index.js}', 'npm install --no-audit --no-fund', 'node index.js'],
    [
      '{kind: typescript, entry: src/main.ts}',
      undefined,
      '"$SVC_NODE" --disable-warning=ExperimentalWarning --experimental-strip-types src/main.ts',
    ],
    ['{kind: python, entry: my worker.py}', undefined, "python3 -u 'my worker.py'"],
    [
      '{kind: python, package_manager: pip, entry: w.py}',
      'python3 -m pip install -r requirements.txt',
      'python3 -u w.py',
    ],
  ])('derives the commands from the runtime %s', (runtime, install, start) => {
    expect(commandsOf(`{name: w, runtime: ${runtime}}`)).toEqual({ install, start });
  });

  test('is refused with line and column if a field is missing or unknown', () => {
    expect(problemsOf('name: w\nruntime: {kind: rust}\n')).toEqual([
      expect.stringMatching(/^\d+:\d+ scripts\.start: Missing 'scripts.start': a worker of the kind 'rust'/),
    ]);
    expect(problemsOf('name: w\nruntime: {kind: node}\n')[0]).toMatch(/Give 'runtime.entry' or 'scripts.start'/);
    expect(problemsOf('name: a b\nruntime: {kind: node, entry: x}\n')).toEqual([
      expect.stringMatching(/^1:7 name: Must be 1 to 63 letters/),
    ]);
    expect(problemsOf('name: w\nruntime: {kind: node, entry: x, package_manager: cargo}\n')).toEqual([
      expect.stringMatching(/^2:\d+ runtime.package_manager: No install command is known for 'cargo'/),
    ]);
    expect(problemsOf('name: w\nruntime: {kind: node, entry: x}\nresources: {cpus: 1}\n')).toEqual([
      expect.stringMatching(/^3:1 resources: .*does not read it/),
    ]);
    expect(problemsOf('name: w\nruntime: {kind: node, entri: x}\n').join()).toContain("Did you mean 'entry'");
  });
});
