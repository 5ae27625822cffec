// JSON that is parsed, changed and printed without altering its numbers (S6).
//
// A number is a double, as every JSON client reads it. Two kinds do not fit a double: whole numbers beyond ±(2^53−1),
// and numbers that are too large (1e400). They stay as they were written, digit for digit: they can be stored, moved
// and removed, but nothing is added to them. `-0` is 0. Of a repeated key the last value counts. Node 20, where only
// `svc-sdk/testing` runs this, cannot keep such numbers: there they are doubles.

declare global {
  interface JSON {
    /** An opaque object that is printed as exactly this text. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
    parse(
      text: string,
      reviver: (key: string, value: unknown, place: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Node 20 lacks this. */
const LANGUAGE: Partial<JSON> = JSON;

/** A number kept as written is an opaque object here: `isExactNumber` distinguishes it from a map. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** Parses valid JSON; `JSON.stringify` prints the value again. */
export function parseExactJson(text: string): JsonValue {
  // JSON.parse returns a JSON value; the objects that the reviver adds are JSON values by the definition above.
  const { rawJSON } = LANGUAGE;
  if (rawJSON === undefined || !mayHoldUnfitNumber(text)) return JSON.parse(text) as JsonValue;
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !fitsDouble(value) ? rawJSON(source) : value,
  ) as JsonValue;
}

/** Whether the text has to be searched for numbers that do not fit a double. */
export function mayHoldUnfitNumber(text: string): boolean {
  return MAY_HOLD_SUCH_NUMBER.test(text);
}

export function isExactNumber(value: object): boolean {
  return LANGUAGE.isRawJSON?.(value) ?? false;
}

function fitsDouble(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** Sixteen digits in a row, or an exponent: also inside texts, which only costs time. */
const MAY_HOLD_SUCH_NUMBER = /\d{16}|\d[eE]\+?\d/;
