import { describe, expect, test } from 'vitest';
import { idOffence } from '../../../../src/protocol/frames/limits.ts';

describe('valid ids', () => {
  test.each([
    ['an ordinary id', 'math::add'],
    ['a path upwards', '..'],
    ['a slash', '/'],
    ['a drive', 'C:\\x'],
    ['spaces inside', 'a b'],
    ['a stream operation', 'stream::get(<name>)'],
    ['the prototype', '__proto__'],
    ['a look-alike of Latin letters', 'mаth::аdd'],
    ['an emoji', '😀'],
    ['exactly 256 bytes', 'a'.repeat(256)],
    ['exactly 256 bytes of two each', 'é'.repeat(128)],
    ['exactly 256 bytes of four each', '😀'.repeat(64)],
  ])('[X20] An id may be %s', (_case, id) => {
    expect(idOffence(id)).toBeUndefined();
  });
});

describe('invalid ids', () => {
  test.each([
    ['nothing', '', 'must not be blank'],
    ['spaces', '  ', 'must not be blank'],
    ['other blanks', '\u00a0\u3000', 'must not be blank'],
    ['a NUL', 'a\0b', 'must not contain control characters'],
    ['a line break', 'a\nb', 'must not contain control characters'],
    ['an escape sequence', '\u001b[31m', 'must not contain control characters'],
    ['a delete', 'a\u007f', 'must not contain control characters'],
    ['a second-row control', 'a\u009b', 'must not contain control characters'],
    ['257 bytes', 'a'.repeat(257), 'is 257 bytes long, over the limit of 256'],
    ['300 bytes', 'a'.repeat(300), 'is 300 bytes long, over the limit of 256'],
    ['258 bytes of two each', 'é'.repeat(129), 'is 258 bytes long, over the limit of 256'],
    ['258 bytes of three each', '名'.repeat(86), 'is 258 bytes long, over the limit of 256'],
    ['260 bytes of four each', '😀'.repeat(65), 'is 260 bytes long, over the limit of 256'],
    ['half a character', 'a\ud800b', 'must not contain half of a surrogate pair'],
    ['the other half', '\udc00', 'must not contain half of a surrogate pair'],
    ['two halves the wrong way round', '\udc00\ud800', 'must not contain half of a surrogate pair'],
  ])('[X20] An id that is or has %s is refused with the reason', (_case, id, offence) => {
    expect(idOffence(id)).toBe(offence);
  });
});
