import { describe, expect, test } from 'vitest';
import { Envelope, envelopeAt, locateMembers, readEnvelope } from '../../../../src/protocol/frames/envelope.ts';
import { byteStringToText, parseRawJson, type RawJson } from '../../../../src/protocol/json/byte-string.ts';
import {
  damage,
  type JsonMember,
  objectText,
  parseAsReference,
  randomJson,
} from '../../../support/random/json-texts.ts';
import { forEachSeed, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';

const PLAIN_FIELDS = ['type', 'id', 'function_id', 'invocation_id', 'baggage', 'timeout_ms', 'action', 'name'] as const;
const RAW_FIELDS = ['data', 'result', 'error', 'config', 'metadata', 'request_format'] as const;
/** Where null is a value of a user; elsewhere it means an absent field. */
const NULLABLE: readonly string[] = ['data', 'result', 'config'];
const OTHER_KEYS = ['"x"', '"Data"', '"dat"', '"data "', '"\\u0078y"', '"名"', '""', '"__proto__"', '"constructor"'];

describe('random frames', () => {
  test('[wire 1.5] What JSON.parse accepts is accepted, with the same values', () => {
    forEachSeed(1500, (random) => {
      const bytes = encode(objectText(random, randomMembers(random)));
      const reference = parseAsReference(bytes);
      if (reference === undefined) throw new Error('The generator made a text that is not JSON');
      expectFields(readWhole(bytes), reference);
    });
  });

  test('[PD-8] Payloads are unchanged bytes, and the last of two equal fields counts', () => {
    forEachSeed(1500, (random) => {
      const members = randomMembers(random);
      const envelope = readWhole(encode(objectText(random, members)));
      for (const field of RAW_FIELDS) {
        const last = members.findLast(({ key }) => key === `"${field}"`);
        const nullMeans = NULLABLE.includes(field) ? 'null' : undefined;
        const expected = last?.value === 'null' ? nullMeans : last?.value;
        const found = envelope[field];
        expect(found === undefined ? undefined : byteStringToText(found)).toBe(expected);
      }
    });
  });
});

describe('randomly damaged frames', () => {
  test('[wire 1.5] Exactly what JSON.parse accepts is accepted, with the same values', () => {
    const seen = { accepted: 0, refused: 0 };
    forEachSeed(6000, (random) => {
      const bytes = damage(random, encode(objectText(random, randomMembers(random))));
      const reference = parseAsReference(bytes);
      const envelope = readEnvelope(bytes);
      if (reference === undefined) {
        seen.refused++;
        expect(envelope, textOf(bytes)).not.toBeInstanceOf(Envelope);
      } else {
        seen.accepted++;
        if (!(envelope instanceof Envelope)) throw new Error(`${envelope.reason}: ${textOf(bytes)}`);
        expectFields(envelope, reference);
      }
    });
    // The damage must be mild enough and thorough enough that both outcomes are tested.
    if (!RUNS_ALL_SEEDS) return;
    expect(seen.accepted).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(1000);
  });

  test('[wire 1.5] A frame cut off at any byte is refused', () => {
    forEachSeed(30, (random) => {
      const bytes = encode(objectText(random, [{ key: '"type"', value: '"ping"' }, ...randomMembers(random)]).trim());
      for (let end = 0; end < bytes.length; end++) {
        const envelope = readEnvelope(bytes.subarray(0, end));
        if (envelope instanceof Envelope) throw new Error(`Accepted: ${textOf(bytes.subarray(0, end))}`);
        expect(envelope.at).toBeLessThanOrEqual(end);
      }
    });
  });
});

describe('frames that another thread has scanned', () => {
  test('[I7] They are accepted or refused like frames scanned by the router', () => {
    forEachSeed(2000, (random) => {
      const whole = encode(objectText(random, randomMembers(random)));
      const bytes = random.chance(50) ? whole : damage(random, whole);
      const places = locateMembers(bytes);
      const read = readEnvelope(bytes);
      if (places instanceof Int32Array) expect(envelopeAt(bytes, places)).toEqual(read);
      else expect(read).toMatchObject({ at: places.at, reason: places.reason });
    });
  });
});

function randomMembers(random: SeededRandom): JsonMember[] {
  return Array.from({ length: random.below(8) }, () => {
    const key = random.pick([...PLAIN_FIELDS, ...RAW_FIELDS].map((name) => `"${name}"`).concat(OTHER_KEYS));
    return { key, value: randomJson(random, 3) };
  });
}

function readWhole(bytes: Uint8Array): Envelope {
  const envelope = readEnvelope(bytes);
  if (envelope instanceof Envelope) return envelope;
  throw new Error(`Refused: ${envelope.reason}: ${textOf(bytes)}`);
}

function expectFields(envelope: Envelope, reference: Record<string, unknown>): void {
  const found: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const field of PLAIN_FIELDS) {
    found[field] = envelope[field];
    expected[field] = own(reference, field) ?? undefined;
  }
  for (const field of RAW_FIELDS) {
    found[field] = parsed(envelope[field]);
    expected[field] = NULLABLE.includes(field) ? own(reference, field) : (own(reference, field) ?? undefined);
  }
  expect(found).toEqual(expected);
}

function own(value: Record<string, unknown>, field: string): unknown {
  return Object.hasOwn(value, field) ? value[field] : undefined;
}

function parsed(raw: RawJson | undefined): unknown {
  return raw === undefined ? undefined : parseRawJson(raw);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1'));
}
