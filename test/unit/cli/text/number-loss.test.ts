import { expect, test } from 'vitest';
import { firstLostNumber, refuseNumberLoss } from '../../../../src/cli/text/number-loss.ts';

test.each([
  ['12345678901234567890', '12345678901234567890'],
  ['{"id": -9007199254740993, "n": 1}', '-9007199254740993'],
  ['[1, 1e400]', '1e400'],
])('[CLI-20] in %s the number %s cannot be passed on unchanged', (json, lost) => {
  expect(firstLostNumber(json)).toBe(lost);
});

test.each([
  '9007199254740991',
  '10000000000000000000000',
  '1795443376614963500',
  '1e21',
  '0.12345678901234567',
  '"12345678901234567890"',
  '{"text \\" 12345678901234567890": "1e400"}',
])('[CLI-20] %s is passed on unchanged', (json) => {
  expect(firstLostNumber(json)).toBeUndefined();
});

test('[CLI-20] the error quotes the number, and the number that would be sent', () => {
  expect(() => refuseNumberLoss('{"id":12345678901234567890}', 'The payload from --payload')).toThrow(
    'The payload from --payload holds the number 12345678901234567890, which would be sent as 12345678901234567000.',
  );
});
