import { expect, test } from 'vitest';
import { BYTES_MAX, LINES_MAX, OutputLines } from '../../../../src/core/workers/output-lines.ts';

const textsOf = (output: OutputLines, wanted = {}) => output.read(wanted).lines.map(({ text }) => text);

test('The last lines are kept in order, and no more than the limit', () => {
  const output = new OutputLines();
  for (let line = 1; line <= LINES_MAX + 10; line++) output.add('stdout', String(line), line);
  const texts = textsOf(output);
  expect(texts).toHaveLength(LINES_MAX);
  expect([texts[0], texts.at(-1)]).toEqual(['11', String(LINES_MAX + 10)]);
});

test('Long lines push out earlier ones by their size', () => {
  const output = new OutputLines();
  const text = 'x'.repeat(10_000);
  for (let line = 0; line < 500; line++) output.add('stderr', text, 0);
  expect(textsOf(output).length).toBeLessThan(BYTES_MAX / 20_000);
  expect(textsOf(output).length).toBeGreaterThan(40);
});

test('A follower gets new lines, and the number of lines dropped in between', () => {
  const output = new OutputLines();
  for (let line = 1; line <= 10; line++) output.add('stdout', String(line), line);
  expect(textsOf(output, { afterSeq: 8 })).toEqual(['9', '10']);
  expect(output.read({ afterSeq: 8 }).dropped).toBe(0);
  for (let line = 11; line <= LINES_MAX + 20; line++) output.add('stdout', String(line), line);
  expect(output.read({ afterSeq: 10 }).dropped).toBe(10);
});

test('Lines can be limited by time and count', () => {
  const output = new OutputLines();
  for (let line = 1; line <= 10; line++) output.add('stdout', String(line), line * 1_000);
  expect(textsOf(output, { sinceMs: 7_000 })).toEqual(['7', '8', '9', '10']);
  expect(textsOf(output, { sinceMs: 7_000, limit: 2 })).toEqual(['9', '10']);
});
