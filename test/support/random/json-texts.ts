// Random JSON texts: every spelling that the grammar allows, and every kind of damage.

import { JSON_DEPTH_MAX } from '../../../src/protocol/frames/limits.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface JsonMember {
  readonly key: string;
  /** The spelling of the value in the text. */
  readonly value: string;
}

/** A random value in a random spelling. */
export function randomJson(random: SeededRandom, levels = 4): string {
  const dice = random.below(levels > 0 ? 10 : 7);
  if (dice < 2) return random.pick(['true', 'false', 'null']);
  if (dice < 4) return randomNumber(random);
  if (dice < 7) return randomString(random);
  const count = random.below(5);
  if (dice < 9) {
    const members = Array.from({ length: count }, () => ({
      key: randomString(random),
      value: randomJson(random, levels - 1),
    }));
    return objectText(random, members);
  }
  const items = Array.from({ length: count }, () => space(random) + randomJson(random, levels - 1) + space(random));
  return `[${items.join(',') || space(random)}]`;
}

/** An object of given members; the keys are JSON strings with their quotes. */
export function objectText(random: SeededRandom, members: readonly JsonMember[]): string {
  const texts = members.map(
    ({ key, value }) => `${space(random)}${key}${space(random)}:${space(random)}${value}${space(random)}`,
  );
  return `{${texts.join(',') || space(random)}}`;
}

/** The bytes with one to three faults, after some of which they are still valid JSON. */
export function damage(random: SeededRandom, bytes: Uint8Array): Uint8Array {
  let damaged = [...bytes];
  for (let fault = random.between(1, 3); fault > 0; fault--) damaged = damageOnce(random, damaged);
  return Uint8Array.from(damaged);
}

/** How many containers lie within each other. */
export function nestingOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(nestingOf));
}

/** What the engine has to make of a text: the parsed object, or nothing. */
export function parseAsReference(bytes: Uint8Array): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    // Not JSON: that is an answer too.
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return nestingOf(value) > JSON_DEPTH_MAX ? undefined : { ...value };
}

function randomNumber(random: SeededRandom): string {
  const sign = random.pick(['', '', '-']);
  const whole = random.pick(['0', '7', '42', '9007199254740993', `${random.between(1, 9)}${random.below(1e6)}`]);
  const fraction = random.pick(['', '', '.0', '.5', '.000001', '.25e2']);
  const exponent = fraction.includes('e') ? '' : random.pick(['', '', 'e3', 'E+10', 'e-7', 'e400']);
  return sign + whole + fraction + exponent;
}

const PIECES = [
  'a',
  'data',
  ' ',
  '/',
  '\u007f',
  'é',
  '名前',
  '😀',
  '\u2028',
  '\ufeff',
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\uDFFF',
  '\\u0000',
  '__proto__',
  '{}[]:,',
];

function randomString(random: SeededRandom): string {
  const length = random.below(6);
  return `"${Array.from({ length }, () => random.pick(PIECES)).join('')}"`;
}

function space(random: SeededRandom): string {
  return random.pick(['', '', '', '', ' ', '\n', '\t', '\r\n', '  ']);
}

/** Lone surrogates as bytes, an overlong slash, a byte that UTF-8 never has, a byte order mark, bare controls. */
const BAD_BYTES = [
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xc0, 0xaf],
  [0xff],
  [0xef, 0xbb, 0xbf],
  [0x00],
  [0x1f],
  [0x0b],
];

const BAD_ESCAPES = ['\\x41', '\\u12', '\\u12g4', "\\'", '\\', '\\U0041', '\\0'];

function damageOnce(random: SeededRandom, bytes: number[]): number[] {
  const at = random.below(bytes.length + 1);
  const insert = (...inserted: number[]): number[] => [...bytes.slice(0, at), ...inserted, ...bytes.slice(at)];
  switch (random.below(7)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return [...bytes.slice(0, at), ...bytes.slice(at + 1)];
    case 2:
      return insert(random.pick([...'{}[]",:0123456789.-+eEtfn\\/ \n\u000b'].map((character) => ord(character))));
    case 3:
      return insert(...random.pick(BAD_BYTES));
    case 4:
      return insert(...[...random.pick(BAD_ESCAPES)].map(ord));
    case 5:
      return insert(...bytes.slice(at, at + random.between(1, 8)));
    default:
      return bytes.map((byte, index) => (index === at ? random.below(256) : byte));
  }
}

function ord(character: string): number {
  return character.charCodeAt(0);
}
