import { describe, expect, test } from 'vitest';
import { resolveThreads } from '../../../../src/cli/commands/engine/start.ts';
import { findMismatches } from '../../../../src/cli/commands/engine/version.ts';
import { isEngineNode } from '../../../../src/cli/engine/pinned-node.ts';
import { quoteForShell } from '../../../../src/cli/text/shell.ts';

const GIB = 1024 ** 3;

describe('before the engine starts', () => {
  const machine = { cores: 8, memoryBytes: 16 * GIB, sharesPorts: true };

  test.each([
    ['1', 1],
    ['4', 4],
    [3, 3],
  ] as const)('[CLI-7] [RO1] threads %s starts %d router threads', (threads, expected) => {
    expect(resolveThreads(threads, false, machine)).toEqual({ threads: expected, reason: undefined });
  });

  test.each([
    [{}, 4, '8 cores'],
    [{ cores: 1 }, 1, '1 core'],
    [{ cores: 2 }, 1, '2 cores'],
    [{ cores: 3 }, 1, '3 cores'],
    [{ cores: 64 }, 8, '64 cores'],
    [{ memoryBytes: 1.5 * GIB }, 3, '1536 MiB of memory'],
    [{ memoryBytes: GIB / 4 }, 1, '256 MiB of memory'],
    [{ sharesPorts: false }, 1, 'threads cannot share a port here'],
  ])('[RO1] auto on a machine with %j is %d, because of %s', (differs, threads, reason) => {
    expect(resolveThreads('auto', false, { ...machine, ...differs })).toEqual({ threads, reason });
  });

  test.each([
    [{}, 4, '8 cores'],
    [{ cores: 2 }, 1, '2 cores'],
    [{ cores: 64 }, 4, '64 cores in a cluster'],
    [{ cores: 64, memoryBytes: 1.5 * GIB }, 3, '1536 MiB of memory'],
  ])(
    '[RO1] [RO10] auto of an engine of a cluster on a machine with %j is %d, because of %s',
    (differs, threads, reason) => {
      expect(resolveThreads('auto', true, { ...machine, ...differs })).toEqual({ threads, reason });
    },
  );

  test.each(['0', '-1', '1.5', '65', '', 'AUTO'])('[CLI-4] --threads %j is a usage error', (threads) => {
    expect(() => resolveThreads(threads, false)).toThrow(/expected auto or a whole number from 1 to 64/);
  });

  test.each([
    ['20.12.0', false],
    ['22.14.9', false],
    ['22.15.0', true],
    ['22.23.3', true],
    ['24.0.0', true],
  ])('[CLI-12] Node %s can run the engine: %s', (version, expected) => {
    expect(isEngineNode(version)).toBe(expected);
  });
});

describe('versions', () => {
  const engine = { version: '0.2.0', address: 'ws://x' };
  const worker = (name: string, version: string) => ({ name, version, runtime: 'node' });

  test('[CLI-13] each version that differs from the engine causes one warning', () => {
    const workers = [worker('a', '0.1.0'), worker('b', '0.2.0'), worker('c', '0.1.0')];
    expect(findMismatches({ cli: '0.1.0', node: '22', engine, workers })).toEqual([
      'The engine is 0.2.0, this command line is 0.1.0.',
      'The engine is 0.2.0; SDK 0.1.0 is used by a, c.',
    ]);
    expect(findMismatches({ cli: '0.2.0', node: '22', engine, workers: [worker('b', '0.2.0')] })).toEqual([]);
    expect(findMismatches({ cli: '0.2.0', node: '22', engine: null, workers: [] })).toEqual([]);
  });
});

describe('quoting for a shell', () => {
  test.each([
    ['orders::create', 'orders::create'],
    ['sku=a1', 'sku=a1'],
    ['lines:=[]', "'lines:=[]'"],
    ["it's $HOME\n👍", "'it'\\''s $HOME\n👍'"],
    ['', "''"],
  ])('[CLI-7] %j is quoted as %s', (word, expected) => {
    expect(quoteForShell(word)).toBe(expected);
  });
});
