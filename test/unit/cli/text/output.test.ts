import { describe, expect, test } from 'vitest';
import { CliFailure } from '../../../../src/cli/kernel/failures.ts';
import { createOutput, type Format, type OutputOptions } from '../../../../src/cli/text/output.ts';
import type { Column } from '../../../../src/cli/text/table.ts';
import { createFakeTerminal, type FakeTerminalOptions } from './fake-terminal.ts';

interface Row {
  readonly id: string;
  readonly count: number;
  readonly note: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'function_id', cut: 'middle', text: (row) => row.id },
  { name: 'count', align: 'right', text: (row) => String(row.count) },
  { name: 'note', cut: 'end', text: (row) => row.note },
  { name: 'secret_place', wideOnly: true, text: () => 'here' },
];

const ROWS: readonly Row[] = [
  { id: 'orders::create', count: 7, note: 'takes "orders", fast' },
  { id: '日本::x', count: 1_200, note: 'two\nlines\u001b[2J' },
];

function print(format: Format, terminalOptions: FakeTerminalOptions, rows = ROWS, changed = {}): string {
  const terminal = createFakeTerminal(terminalOptions);
  createOutput(terminal, options({ format, ...changed }), []).printRows({ columns: COLUMNS, rows, records: rows });
  expect(terminal.stderr()).toBe('');
  return terminal.stdout();
}

function options(changed: Partial<OutputOptions> = {}): OutputOptions {
  const plain = {
    format: 'table',
    jsonAsked: false,
    plain: false,
    quiet: false,
    verbose: false,
    showsWire: false,
    colour: 'auto',
  } as const;
  return { ...plain, timeStyle: 'relative', ...changed };
}

describe('lists', () => {
  test('[CLI-2] a terminal gets aligned columns with a heading', () => {
    expect(print('table', { columns: 80, env: { NO_COLOR: '1' } }).split('\n')).toEqual([
      'FUNCTION ID     COUNT  NOTE',
      'orders::create      7  takes "orders", fast',
      '日本::x          1200  two lines[2J',
      '',
    ]);
  });

  test('[CLI-2] a narrow terminal gets shortened columns, and -o wide never does', () => {
    const long = [{ id: 'orders::create::with::many::parts', count: 1, note: 'a rather long description of it' }];
    const narrow = print('table', { columns: 40, env: { NO_COLOR: '1' } }, long).split('\n');
    expect(narrow.every((line) => line.length <= 40)).toBe(true);
    expect(narrow[1]).toMatch(/^orders.*….*parts +1 {2}a .*…$/);
    expect(print('wide', { columns: 40, env: { NO_COLOR: '1' } }, long)).toContain('orders::create::with::many::parts');
    expect(print('wide', { columns: 40, env: { NO_COLOR: '1' } }, long)).toContain('SECRET PLACE');
  });

  test('[CLI-5] a pipe gets heading and columns without colour or shortening, and nothing for an empty list', () => {
    expect(print('table', {}).split('\n')[0]).toBe('FUNCTION ID     COUNT  NOTE');
    expect(print('table', {}, [])).toBe('');
  });

  test('[CLI-5] --plain prints tab-separated lines without heading', () => {
    expect(print('table', {}, ROWS, { plain: true })).toBe(
      'orders::create\t7\ttakes "orders", fast\n日本::x\t1200\ttwo lines[2J\n',
    );
  });

  test('[CLI-2] json is one document with the unchanged records', () => {
    expect(JSON.parse(print('json', {}))).toEqual(ROWS);
    expect(print('json', {}).trimEnd()).not.toContain('\n');
    expect(JSON.parse(print('json', { columns: 80 }))).toEqual(ROWS);
    expect(print('json', {}, [])).toBe('[]\n');
  });

  test('[CLI-2] jsonl is one record per line, also on a terminal', () => {
    const lines = print('jsonl', { columns: 80 }).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(ROWS);
    expect(print('jsonl', {}, [])).toBe('');
  });

  test('[CLI-2] csv has every column, with quotes where needed', () => {
    expect(print('csv', {}).split('\n').slice(0, 2)).toEqual([
      'function_id,count,note,secret_place',
      'orders::create,7,"takes ""orders"", fast",here',
    ]);
    expect(print('csv', {})).toContain('"two\nlines\u001b[2J"');
    expect(print('csv', { columns: 80 })).not.toContain('\u001b');
  });
});

describe('messages and documents', () => {
  test('[CLI-1] notes and warnings go to stderr, and --quiet suppresses only the notes', () => {
    const loud = createFakeTerminal();
    const quiet = createFakeTerminal();
    for (const [terminal, isQuiet] of [
      [loud, false],
      [quiet, true],
    ] as const) {
      const output = createOutput(terminal, options({ quiet: isQuiet }), []);
      output.note('done');
      output.detail('only when verbose');
      output.warn('careful\u001b[2J');
      expect(terminal.stdout()).toBe('');
    }
    expect(loud.stderr()).toBe('done\nwarning: careful[2J\n');
    expect(quiet.stderr()).toBe('warning: careful[2J\n');
  });

  test('[CLI-3] an error is text, or JSON if JSON was requested', () => {
    const failure = new CliFailure({
      code: 'USAGE',
      message: 'wrong \u202e',
      exitCode: 2,
      hint: 'do this',
      lines: ['at a'],
      details: { path: 'x' },
    });
    const text = createFakeTerminal();
    createOutput(text, options(), []).fail(failure);
    expect(text.stderr()).toBe('error: wrong \nat a\ndo this\n');

    const json = createFakeTerminal();
    createOutput(json, options({ jsonAsked: true }), []).fail(failure);
    expect(JSON.parse(json.stderr())).toEqual({
      error: { code: 'USAGE', message: 'wrong \u202e', hint: 'do this', doc_url: 'docs/errors.md#USAGE', path: 'x' },
    });
    expect(json.stderr()).not.toContain('\u202e');
    expect(json.stdout()).toBe('');
  });

  test('[CLI-22] JSON is indented on a terminal and one line in a pipe; no result is null', () => {
    const terminal = createFakeTerminal({ columns: 80 });
    createOutput(terminal, options({ format: 'json' }), []).printJson({ a: 1 });
    expect(terminal.stdout()).toBe('{\n  "a": 1\n}\n');
    const pipe = createFakeTerminal();
    createOutput(pipe, options({ format: 'json' }), []).printJson({ a: 1 });
    createOutput(pipe, options({ format: 'json' }), []).printJson(undefined);
    expect(pipe.stdout()).toBe('{"a":1}\nnull\n');
  });
});
