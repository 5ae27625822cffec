import { expect, test } from 'vitest';
import { exceedsUtf8, utf8Length } from '../../../../src/sdk/wire/wire.ts';

test('[W4] the length of a text is that of its UTF-8 bytes', () => {
  for (const text of ['', 'abc', 'é', '€', '😀', 'a😀é€', '\u{10ffff}', '\u07ff\u0800\uffff']) {
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  }
});

test('[W4] a text is too long exactly when its bytes are', () => {
  expect(exceedsUtf8('abcdef', 6)).toBe(false);
  expect(exceedsUtf8('abcdefg', 6)).toBe(true);
  expect(exceedsUtf8('€€', 6)).toBe(false);
  expect(exceedsUtf8('€€a', 6)).toBe(true);
});
