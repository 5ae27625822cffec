import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../../../src/cli/catalogue.ts';
import { runProgram } from '../../../../src/cli/kernel/program.ts';
import { createFakeTerminal } from '../text/fake-terminal.ts';

async function run(args: readonly string[]) {
  const terminal = createFakeTerminal({ env: { NO_COLOR: '1' } });
  const code = await runProgram(args, terminal, CATALOGUE);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

describe('one run of svc', () => {
  test('[CLI-12] the version is printed without loading a command, also as JSON', async () => {
    const { stdout } = await run(['--version']);
    expect(stdout).toMatch(/^svc \d+\.\d+\.\d+\n$/);
    expect(JSON.parse((await run(['--version', '--json'])).stdout)).toEqual({ version: stdout.slice(4).trim() });
  });

  test('[CLI-7] requested help goes to stdout with exit code 0', async () => {
    for (const args of [['--help'], ['help'], ['-h']]) {
      expect(await run(args)).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('Usage: svc <command>'),
      });
    }
    for (const args of [
      ['help', 'functions', 'list'],
      ['functions', 'list', '--help'],
      ['functions', 'list', '-h'],
    ]) {
      expect(await run(args)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Usage: svc function list [flags]'),
      });
    }
    expect((await run(['help', 'functions'])).stdout).toContain('function info');
    expect((await run(['help', 'start'])).stdout).toContain('Usage: svc start [flags]');
  });

  test.each(['config', 'env', 'exit-codes', 'output'])('[CLI-7] svc help %s prints a page', async (topic) => {
    expect(await run(['help', topic])).toMatchObject({ code: 0, stderr: '' });
  });

  test('[CLI-7] svc help env names every OTEL_ variable that the engine reads', async () => {
    const read = [
      'modules/observability/settings.ts',
      'core/telemetry/records/settings.ts',
      'modules/observability/config.ts',
    ]
      .map((file) => readFileSync(new URL(`../../../../src/${file}`, import.meta.url), 'utf8'))
      .flatMap((source) => source.match(/OTEL_[A-Z_]*[A-Z]/g) ?? [])
      .filter((name) => name !== 'OTEL_EXPORTER_OTLP');
    const { stdout } = await run(['help', 'env']);
    expect(new Set(stdout.match(/OTEL_[A-Z_]*[A-Z]/g))).toEqual(new Set(read));
  });

  test.each([['start'], ['dev'], ['backup', 'copy'], ['restore', 'copy']])(
    '[CLI-12] svc %s without a configuration reports that, also on a Node too old for the engine',
    async (...args) => {
      const ran = process.versions;
      Object.defineProperty(process, 'versions', { value: { ...ran, node: '20.12.0' } });
      try {
        const done = await run(args);
        expect(done).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no svc-config.yaml') });
        expect(done.stderr).toContain(`Usage: svc ${args[0]}`);
      } finally {
        Object.defineProperty(process, 'versions', { value: ran });
      }
    },
  );

  test('[CLI-8] an unknown help topic suggests the nearest', async () => {
    expect(await run(['help', 'exit-code'])).toMatchObject({ code: 2, stderr: expect.stringContaining('exit-codes') });
  });

  test.each([
    [['triger', '--json'], 'USAGE'],
    [['functions', 'list', '--jsn', '-o', 'json'], 'USAGE'],
    [['functions', 'list', '--jsn', '-ojsonl'], 'USAGE'],
  ])('[CLI-3] %j fails with JSON on stderr, although the line is invalid', async (args, code) => {
    const done = await run(args);
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(done.stderr)).toEqual({
      error: { code, message: expect.any(String), hint: expect.any(String), doc_url: `docs/errors.md#${code}` },
    });
  });

  test.each([
    ['queue', 'dlq', 'redrive', '-y'],
    ['-y', '--no-input', 'queue', 'dlq', 'redrive'],
  ])('[CLI-6] commands that ask no question also accept --yes and --no-input: %s %s %s %s', async (...words) => {
    const { stderr } = await run([...words, 'one', 'two', '--payload', '{}']);
    expect(stderr).toContain('--payload is for one letter');
  });

  test('[CLI-2] contradictory formats are refused', async () => {
    expect(await run(['functions', 'list', '--json', '-o', 'csv'])).toMatchObject({ code: 2, stdout: '' });
    expect((await run(['version', '-o', 'csv'])).stderr).toContain('expected one of table, json, jsonl');
  });
});
