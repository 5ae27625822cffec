// One frame with its fields picked out of the text: plain fields parsed, payload fields left as JSON text.
//
// Every frame is read into the same class, so that V8 sees one shape on the hot path for every message.
// `protocol/frames/decode.ts` turns an envelope into a typed frame, or refuses it.

import {
  asRawJson,
  type ByteString,
  bytesToByteString,
  parseRawJson,
  RAW_NULL,
  type RawJson,
} from '../json/byte-string.ts';
import { offence, offenceAt, skipSpace, skipString, skipValue } from '../json/json-scan.ts';

/** One shape for every frame; fields that a frame does not have stay `undefined`. */
export class Envelope {
  type: unknown = undefined;
  id: unknown = undefined;
  name: unknown = undefined;
  description: unknown = undefined;
  parent_service_id: unknown = undefined;
  namespace: unknown = undefined;
  trigger_namespace: unknown = undefined;
  trigger_type: unknown = undefined;
  function_id: unknown = undefined;
  invocation_id: unknown = undefined;
  traceparent: unknown = undefined;
  baggage: unknown = undefined;
  timeout_ms: unknown = undefined;
  action: unknown = undefined;
  previous_worker_id: unknown = undefined;
  reattach_token: unknown = undefined;
  // From here on: relayed and stored as text, never parsed.
  data: RawJson | undefined = undefined;
  result: RawJson | undefined = undefined;
  error: RawJson | undefined = undefined;
  config: RawJson | undefined = undefined;
  metadata: RawJson | undefined = undefined;
  invocation: RawJson | undefined = undefined;
  request_format: RawJson | undefined = undefined;
  response_format: RawJson | undefined = undefined;
  trigger_request_format: RawJson | undefined = undefined;
  call_request_format: RawJson | undefined = undefined;
}

/** Where and why bytes are not a JSON object. */
export interface ScanOffence {
  readonly at: number;
  readonly reason: string;
  /** The fields before the error: they may identify a caller that waits for an answer. */
  readonly seen?: Envelope;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const LETTER_N = 110;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The ranges of the members of an object, for each: key start, key end, value start, value end. */
export type MemberRanges = Int32Array;

/**
 * Reads one JSON object. Unknown members are skipped; a null member counts as absent; of two equal keys the last wins.
 */
export function readEnvelope(bytes: Uint8Array): Envelope | ScanOffence {
  const text = bytesToByteString(bytes);
  const envelope = new Envelope();
  const offender = scanMembers(bytes, (keyStart, keyEnd, start, end) => {
    const field = fieldAt(bytes, text, keyStart, keyEnd);
    if (field !== undefined) setField(envelope, field, bytes, text, start, end);
  });
  return offender === undefined ? envelope : { ...offender, seen: envelope };
}

/** The part of `readEnvelope` whose cost grows with the bytes; for large frames it runs on another thread. */
export function locateMembers(bytes: Uint8Array): MemberRanges | ScanOffence {
  const ranges: number[] = [];
  const offender = scanMembers(bytes, (keyStart, keyEnd, start, end) => {
    ranges.push(keyStart, keyEnd, start, end);
  });
  return offender ?? new Int32Array(ranges);
}

/** The rest of `readEnvelope`, for members that were located before. */
export function envelopeAt(bytes: Uint8Array, ranges: MemberRanges): Envelope {
  const text = bytesToByteString(bytes);
  const envelope = new Envelope();
  for (let at = 0; at < ranges.length; at += 4) {
    const field = fieldAt(bytes, text, ranges[at] ?? 0, ranges[at + 1] ?? 0);
    if (field !== undefined) setField(envelope, field, bytes, text, ranges[at + 2] ?? 0, ranges[at + 3] ?? 0);
  }
  return envelope;
}

export type OnMember = (keyStart: number, keyEnd: number, start: number, end: number) => void;

/** Calls `onMember` for each member of an object, in place. `undefined`: the bytes are one object and nothing else. */
export function scanMembers(bytes: Uint8Array, onMember: OnMember): ScanOffence | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return describeOffence(bytes, at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return checkEnd(bytes, at + 1);
  for (;;) {
    at = scanMember(bytes, at, onMember);
    if (at < 0) return describeOffence(bytes, offenceAt(at));
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_BRACE) return checkEnd(bytes, at + 1);
    if (bytes[at] !== COMMA) return describeOffence(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

function scanMember(bytes: Uint8Array, at: number, onMember: OnMember): number {
  if (bytes[at] !== QUOTE) return offence(at);
  const keyStart = at + 1;
  const afterKey = skipString(bytes, keyStart);
  if (afterKey < 0) return afterKey;
  const colon = skipSpace(bytes, afterKey);
  if (bytes[colon] !== COLON) return offence(colon);
  const start = skipSpace(bytes, colon + 1);
  const end = skipValue(bytes, start, 1);
  if (end < 0) return end;
  onMember(keyStart, afterKey - 1, start, end);
  return end;
}

function setField(envelope: Envelope, field: Field, bytes: Uint8Array, text: ByteString, start: number, end: number) {
  const isNull = bytes[start] === LETTER_N;
  if (field.kind === 'raw') {
    // The wire treats null like an absent field, except where null is a value of a user.
    field.set(envelope, isNull ? field.nullMeans : asRawJson(text.slice(start, end)));
  } else if (isNull) {
    field.set(envelope, undefined);
  } else if (bytes[start] === QUOTE && isPlainText(bytes, start + 1, end - 1)) {
    field.set(envelope, text.slice(start + 1, end - 1));
  } else {
    field.set(envelope, parseRawJson(asRawJson(text.slice(start, end))));
  }
}

/** Whether there are neither escapes nor bytes beyond ASCII: then the bytes between the quotes are the string. */
function isPlainText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0;
    if (code === BACKSLASH || code >= 0x80) return false;
  }
  return true;
}

function checkEnd(bytes: Uint8Array, at: number): ScanOffence | undefined {
  const end = skipSpace(bytes, at);
  return end === bytes.length ? undefined : describeOffence(bytes, end);
}

function describeOffence(bytes: Uint8Array, at: number): ScanOffence {
  const code = bytes[at];
  if (code === undefined) return { at, reason: 'the text ends in the middle of a value' };
  if (code === OPEN_BRACE || code === 91) return { at, reason: `nested too deep, or out of place, at byte ${at}` };
  const seen = code >= 0x21 && code <= 0x7e ? `'${String.fromCharCode(code)}'` : `byte 0x${code.toString(16)}`;
  return { at, reason: `unexpected ${seen} at byte ${at}` };
}

// Which field a key names, found by the key's length, first and last byte: on the hot path this avoids building and
// hashing a string for each key. Each field has its own setter, because V8 cannot make a store to a computed name fast.

type Field =
  | {
      readonly kind: 'raw';
      readonly name: string;
      readonly nullMeans: RawJson | undefined;
      set(envelope: Envelope, value: RawJson | undefined): void;
    }
  | { readonly kind: 'plain'; readonly name: string; set(envelope: Envelope, value: unknown): void };

const FIELD_SLOTS = buildFieldSlots([
  plain('type', (envelope, value) => {
    envelope.type = value;
  }),
  plain('id', (envelope, value) => {
    envelope.id = value;
  }),
  plain('name', (envelope, value) => {
    envelope.name = value;
  }),
  plain('description', (envelope, value) => {
    envelope.description = value;
  }),
  plain('parent_service_id', (envelope, value) => {
    envelope.parent_service_id = value;
  }),
  plain('namespace', (envelope, value) => {
    envelope.namespace = value;
  }),
  plain('trigger_namespace', (envelope, value) => {
    envelope.trigger_namespace = value;
  }),
  plain('trigger_type', (envelope, value) => {
    envelope.trigger_type = value;
  }),
  plain('function_id', (envelope, value) => {
    envelope.function_id = value;
  }),
  plain('invocation_id', (envelope, value) => {
    envelope.invocation_id = value;
  }),
  plain('traceparent', (envelope, value) => {
    envelope.traceparent = value;
  }),
  plain('baggage', (envelope, value) => {
    envelope.baggage = value;
  }),
  plain('timeout_ms', (envelope, value) => {
    envelope.timeout_ms = value;
  }),
  plain('action', (envelope, value) => {
    envelope.action = value;
  }),
  plain('previous_worker_id', (envelope, value) => {
    envelope.previous_worker_id = value;
  }),
  plain('reattach_token', (envelope, value) => {
    envelope.reattach_token = value;
  }),
  raw(
    'data',
    (envelope, value) => {
      envelope.data = value;
    },
    RAW_NULL,
  ),
  raw(
    'result',
    (envelope, value) => {
      envelope.result = value;
    },
    RAW_NULL,
  ),
  raw('error', (envelope, value) => {
    envelope.error = value;
  }),
  raw(
    'config',
    (envelope, value) => {
      envelope.config = value;
    },
    RAW_NULL,
  ),
  raw('metadata', (envelope, value) => {
    envelope.metadata = value;
  }),
  raw('invocation', (envelope, value) => {
    envelope.invocation = value;
  }),
  raw('request_format', (envelope, value) => {
    envelope.request_format = value;
  }),
  raw('response_format', (envelope, value) => {
    envelope.response_format = value;
  }),
  raw('trigger_request_format', (envelope, value) => {
    envelope.trigger_request_format = value;
  }),
  raw('call_request_format', (envelope, value) => {
    envelope.call_request_format = value;
  }),
] satisfies Field[]);

function plain(name: keyof Envelope, set: (envelope: Envelope, value: unknown) => void): Field {
  return { kind: 'plain', name, set };
}

function raw(
  name: keyof Envelope,
  set: (envelope: Envelope, value: RawJson | undefined) => void,
  nullMeans?: RawJson,
): Field {
  return { kind: 'raw', name, set, nullMeans };
}

function fieldAt(bytes: Uint8Array, text: ByteString, start: number, end: number): Field | undefined {
  const field = FIELD_SLOTS[slotOf(end - start, bytes[start] ?? 0, bytes[end - 1] ?? 0)];
  if (field === undefined || field.name.length !== end - start) return undefined;
  return text.startsWith(field.name, start) ? field : undefined;
}

function slotOf(length: number, first: number, last: number): number {
  return (length * 41 + first * 7 + last * 3) & 255;
}

function buildFieldSlots(fields: readonly Field[]): (Field | undefined)[] {
  const slots = new Array<Field | undefined>(256).fill(undefined);
  for (const field of fields) {
    const { name } = field;
    const slot = slotOf(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1));
    if (slots[slot] !== undefined) throw new Error(`Fields ${name} and ${slots[slot].name} share slot ${slot}`);
    slots[slot] = field;
  }
  return slots;
}
