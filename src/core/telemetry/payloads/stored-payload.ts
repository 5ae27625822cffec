// An input or an output as it is stored: valid JSON without secrets, with a mark wherever something is missing.

import { asByteString, byteStringToText } from '../../../protocol/json/byte-string.ts';
import { parseExactJson } from '../../calls/exact-json.ts';
import { redactKeys } from '../../config-fields/redaction.ts';
import { closeCutJson } from './cut-json.ts';
import type { PayloadGap, PayloadPart } from './payload-capture.ts';

export interface StoredPayload {
  /** Valid JSON; null: not kept, see `gap`. */
  json: string | null;
  /** Of the whole value as it was sent. */
  bytes: number;
  /** Where secrets were replaced, as JSON pointers; 100 at most. */
  redacted: string[];
  /** Where it refers to channels of the call, whose keys are redacted too: they ended with it. */
  channels: string[];
  /** Where the end is missing, as a JSON pointer; null: nothing is. */
  cut_at: string | null;
  gap: PayloadGap | null;
}

const PLACES_MAX = 100;

export function readPart({ json, isWhole, bytes, gap }: PayloadPart): StoredPayload {
  if (json === null) return missing(bytes, gap ?? 'unreadable');
  const sent = byteStringToText(asByteString(json));
  try {
    const cut = isWhole ? undefined : closeCutJson(sent);
    const text = cut === undefined ? sent : cut.json;
    if (text === undefined) return missing(bytes, 'too_large');
    const value = parseExactJson(text);
    const shown = redactKeys(value);
    const changed = changedPlaces(value, shown);
    const channels = changed.flatMap((place) => channelAt(value, place) ?? []);
    const redacted = changed.filter((place) => channelAt(value, place) === undefined);
    // Printing would change white space and the digits of numbers.
    const kept = changed.length === 0 ? text : JSON.stringify(shown);
    return { json: kept, bytes, redacted, channels, cut_at: cut === undefined ? null : pointerOf(cut.path), gap: null };
  } catch {
    return missing(bytes, 'unreadable');
  }
}

function missing(bytes: number, gap: PayloadGap): StoredPayload {
  return { json: null, bytes, redacted: [], channels: [], cut_at: null, gap };
}

/** Where a copy differs from its original; what it lacks as a whole is one place. */
function changedPlaces(value: unknown, copy: unknown): string[] {
  const places: string[] = [];
  const compare = (one: unknown, other: unknown, path: readonly string[]): void => {
    if (places.length === PLACES_MAX) return;
    if (!isContainer(one) || !isContainer(other)) {
      if (one !== other) places.push(pointerOf(path));
      return;
    }
    for (const [key, item] of Object.entries(one)) compare(item, Reflect.get(other, key), [...path, key]);
  };
  compare(value, copy, []);
  return places;
}

/** The place of the channel reference of which this place is the key. */
function channelAt(value: unknown, place: string): string | undefined {
  if (!place.endsWith(ACCESS_KEY)) return undefined;
  const parent = place.slice(0, -ACCESS_KEY.length);
  const reference = valueAt(value, parent);
  if (!isContainer(reference) || typeof Reflect.get(reference, 'channel_id') !== 'string') return undefined;
  return parent;
}

const ACCESS_KEY = '/access_key';

/** `place`: a JSON pointer. */
export function valueAt(value: unknown, place: string): unknown {
  let at = value;
  for (const part of place.split('/').slice(1)) {
    if (!isContainer(at)) return undefined;
    at = Reflect.get(at, part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return at;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function pointerOf(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
