// JSON text in the form in which the engine relays it.
//
// A `ByteString` holds the bytes of UTF-8 text, one character for each byte (0 to 255). Slicing and joining it moves
// bytes without decoding them, V8 stores it in one byte per character, and writing it back gives the bytes that
// arrived. `RawJson` is a ByteString that was checked to be one complete JSON value.
// Only the engine uses this form: SDKs hold parsed values.

declare const byteStringBrand: unique symbol;
declare const rawJsonBrand: unique symbol;

export type ByteString = string & { readonly [byteStringBrand]: true };
export type RawJson = ByteString & { readonly [rawJsonBrand]: true };

export const RAW_NULL = asRawJson('null');
export const RAW_EMPTY_OBJECT = asRawJson('{}');

/** The bytes of a frame as they came from the socket, copied out of its buffer. */
export function bytesToByteString(bytes: Uint8Array): ByteString {
  return asByteString(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'));
}

/** Ordinary text as the bytes of its UTF-8 form. */
export function textToByteString(text: string): ByteString {
  return asByteString(NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text);
}

export function byteStringToText(bytes: ByteString): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** A value of the engine itself as JSON to send; `undefined` has no JSON form and becomes null. */
export function rawJson(value: unknown, replacer?: (key: string, value: unknown) => unknown): RawJson {
  return asRawJson(textToByteString(JSON.stringify(value, replacer) ?? 'null'));
}

/** The same for a text. Nearly all texts that are written for a call need no escape. */
export function quoted(text: string): RawJson {
  return PLAIN.test(text) ? asRawJson(`"${text}"`) : rawJson(text);
}

/** The value of relayed JSON, for built-in functions. `RawJson` is valid by construction, so this cannot throw. */
export function parseRawJson(raw: RawJson): unknown {
  return JSON.parse(byteStringToText(raw));
}

/**
 * A copy that does not keep the text it was cut from alive. V8 makes a long substring a view of its parent: a 40-byte
 * id kept for the length of a call would hold the whole 16 MiB frame it arrived in.
 */
export function detach(text: string): string {
  const copy = Buffer.from(text, 'utf8').toString('utf8');
  // Half of a surrogate pair has no UTF-8 form: only such text is copied at twice the width.
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Asserts that the text obeys the rule of the type. For the scanner and the encoders only. */
export function asByteString(text: string): ByteString {
  return text as ByteString;
}

export function asRawJson(text: ByteString | string): RawJson {
  return text as RawJson;
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is "anything that is not ASCII".
const NOT_ASCII = /[^\x00-\x7f]/;
