// The size limits of the parts of a span (guarantees 4), and which of its attributes are secret by their key (X22).

import { isSecretKey, isUrlKey, REDACTED, redactUrl } from '../../config-fields/redaction.ts';
import { cutText, TRUNCATED_ATTRIBUTE } from '../logs/log-record.ts';
import type { Attributes, SpanRecord } from '../records/records.ts';

export type Pairs = (readonly [key: string, value: string])[];

const ATTRIBUTES_MAX = 128;
const VALUE_BYTES_MAX = 4 * 1024;
const KEY_BYTES_MAX = 256;
const EVENTS_MAX = 128;
const LINKS_MAX = 128;
const NAME_BYTES_MAX = 512;

/** `cut` is called once when something was left out; an attribute says so too. */
export function boundAttributes(pairs: Attributes, cut: () => void): Attributes {
  if (pairs.length <= ATTRIBUTES_MAX && pairs.every(mayStay)) return pairs;
  let isCut = pairs.length > ATTRIBUTES_MAX;
  const kept = (isCut ? pairs.slice(0, ATTRIBUTES_MAX - 1) : pairs).map(([key, value]) => {
    const shortKey = cutText(key, KEY_BYTES_MAX);
    const shown = shownValue(key, value);
    const short = cutText(shown, VALUE_BYTES_MAX);
    isCut ||= shortKey.length < key.length || short.length < shown.length;
    return [shortKey, short] as const;
  });
  if (!isCut) return kept;
  cut();
  return [...kept.slice(0, ATTRIBUTES_MAX - 1), [TRUNCATED_ATTRIBUTE, 'true']];
}

/** Nearly all spans are within the limits. */
function mayStay([key, value]: Pairs[number]): boolean {
  const isShort = cutText(key, KEY_BYTES_MAX) === key && cutText(value, VALUE_BYTES_MAX) === value;
  return isShort && shownValue(key, value) === value;
}

/** A span of a worker, which may contain anything. */
export function boundSpan(span: SpanRecord, cut: () => void): SpanRecord {
  let isCut = span.events.length > EVENTS_MAX || span.links.length > LINKS_MAX;
  const note = (): void => {
    isCut = true;
  };
  const bounded = {
    ...span,
    name: cutText(span.name, NAME_BYTES_MAX),
    service_name: cutText(span.service_name, NAME_BYTES_MAX),
    attributes: boundAttributes(span.attributes, note),
    events: span.events.slice(0, EVENTS_MAX).map((event) => ({
      ...event,
      name: cutText(event.name, NAME_BYTES_MAX),
      attributes: boundAttributes(event.attributes, note),
    })),
    links: span.links
      .slice(0, LINKS_MAX)
      .map((link) => ({ ...link, attributes: boundAttributes(link.attributes, note) })),
  };
  if (isCut) cut();
  return bounded;
}

/** Queries contain tokens as often as headers do: parameters are hidden by their names. */
function shownValue(key: string, value: string): string {
  if (isSecretKey(lastPart(key))) return REDACTED;
  if (key === 'url.query') return redactQuery(value);
  if (key === 'url.full') return redactFullUrl(value);
  return isUrlKey(key) ? redactUrl(value) : value;
}

/** `http.request.header.authorization` is as secret as `authorization`. */
function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function redactQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = equals < 0 ? pair : pair.slice(0, equals);
      return isSecretKey(decodedName(name)) ? `${name}=${REDACTED}` : pair;
    })
    .join('&');
}

function decodedName(name: string): string {
  return new URLSearchParams(`${name}=`).keys().next().value ?? name;
}

function redactFullUrl(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? url : `${url.slice(0, start + 1)}${redactQuery(url.slice(start + 1))}`;
}
