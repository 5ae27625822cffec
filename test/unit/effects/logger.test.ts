import { describe, expect, test } from 'vitest';
import { createLogger, type LogFields, type LoggerOptions } from '../../../src/effects/logger.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

/** Everything that can end a line, move a cursor, or turn text around on a screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const DANGEROUS = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ATTACKS = [
  'a\n2026-01-01T00:00:00.000Z ERROR forged',
  'a\r\nforged',
  'a\u0085forged',
  'a\u2028forged',
  'a\u2029forged',
  'a\u000bforged',
  '\u001b[2J\u001b[31mred',
  '\u009b31mred',
  '\u001b]0;title\u0007',
  'a\u0008\u0008b',
  '\u202egnp.exe',
  '\u2066x\u2069',
  'a\0b',
  'a\u007fb',
];

describe.each(['default', 'json'] as const)('lines of the format %s', (format) => {
  test('[X22] Secrets are removed by their key, at any depth', () => {
    const [line] = logged(format, {
      bridge_token: 's3cret',
      headers: { Authorization: 'Bearer s3cret', accept: 'all' },
      list: [{ client_secret: 's3cret' }],
      broker_url: 'amqp://user:s3cret@host/x?key=s3cret',
    });
    expect(line).not.toContain('s3cret');
    expect(line).toContain('accept');
    expect(line).toContain('[redacted]');
  });

  test.each(ATTACKS)('[X22] The text %j cannot forge a line or control a terminal', (attack) => {
    for (const fields of [{ reason: attack }, { nested: { deep: [attack] } }, { nested: { [attack]: 1 } }]) {
      const lines = logged(format, fields);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(DANGEROUS);
    }
    expect(logged(format, {}, attack)[0]).not.toMatch(DANGEROUS);
  });

  test('[guarantees 4] A very long text is cut and marked', () => {
    for (const fields of [{ id: 'x'.repeat(1_000_000) }, { nested: [{ id: 'x'.repeat(1_000_000) }] }]) {
      const [line] = logged(format, fields);
      expect(line?.length).toBeLessThan(5000);
      expect(line).toContain('(cut, 1000000 characters)');
    }
  });

  test('[X22] Harmless text does not change', () => {
    expect(logged(format, { worker: 'größer', id: 'math::add', n: 5 })[0]).toContain('größer');
  });

  test('[X19] A field may have any name', () => {
    expect(logged(format, JSON.parse('{"x":{"__proto__":{"polluted":1}}}'))[0]).toContain('polluted');
    expect(Object({}).polluted).toBeUndefined();
  });

  test('[X22] A value that cannot be printed does not stop the log', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const value of [undefined, null, () => 1, Symbol('s'), circular, new Map([['a', 1]])]) {
      expect(logged(format, { value })).toHaveLength(1);
    }
  });
});

describe('a line of text', () => {
  test('[X22] It has time, level, message and fields, with quotes where a value needs them', () => {
    expect(logged('default', { worker: 'calc:1', reason: 'not so', n: 5, ok: true, list: [1] })[0]).toBe(
      '2026-01-01T00:00:00.000Z WARN  Something worker=calc:1 reason="not so" n=5 ok=true list="[1]"',
    );
  });
});

describe('a line of JSON', () => {
  test('[X22] It is one JSON object with time, level, message and fields', () => {
    expect(JSON.parse(logged('json', { worker: 'é', reason: 'a\nb' })[0] ?? '')).toEqual({
      time: '2026-01-01T00:00:00.000Z',
      level: 'warn',
      message: 'Something',
      worker: 'é',
      reason: 'a\nb',
    });
  });

  test('[X22] Escapes do not change the parsed values', () => {
    for (const attack of ATTACKS) {
      expect(JSON.parse(logged('json', { reason: attack })[0] ?? '')).toMatchObject({ reason: attack });
    }
  });
});

describe('levels', () => {
  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('[CLI-1] With %s the log has %j', (level, expected) => {
    const lines: string[] = [];
    const logger = createLogger({ level, format: 'json', clock: new FakeClock(), write: (line) => lines.push(line) });
    for (const one of ['debug', 'info', 'warn', 'error'] as const) logger[one]('x');
    expect(lines.map((line) => Object(JSON.parse(line)).level)).toEqual(expected);
  });
});

function logged(format: LoggerOptions['format'], fields: LogFields, message = 'Something'): string[] {
  const lines: string[] = [];
  createLogger({ level: 'info', format, clock: new FakeClock(), write: (line) => lines.push(line) }).warn(
    message,
    fields,
  );
  return lines;
}
