// The request object for handlers, conditions and middleware (modules 5.3), written as JSON text: a request is on the
// hot path, and its body is inserted as it came.

import { asByteString, type ByteString, quoted } from '../../../protocol/json/byte-string.ts';
import type { HeaderLines } from '../../../transport/http.ts';

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly clientAddress: string;
  readonly requestId: string;
}

/** The part of a route that is the same in every request: `"path":…,"trigger":{…}`. */
export function routeText(method: string, path: string): ByteString {
  const quotedPath = quoted(path);
  return asByteString(`"path":${quotedPath},"trigger":{"type":"http","path":${quotedPath},"method":${quoted(method)}}`);
}

/** The object up to the body, without the closing brace. */
export function requestText(
  route: ByteString,
  parameters: readonly string[],
  values: readonly string[],
  request: RequestHead,
  requestIdHeader: string,
): ByteString {
  const { method, path, query, headers, clientAddress, requestId } = request;
  const url = query === '' ? path : `${path}?${query}`;
  const params = parametersText(parameters, values);
  const asked = query === '' ? '{}' : queryText(query);
  const lines = headersText(headers, requestIdHeader, requestId);
  return asByteString(
    `{"method":${quoted(method)},${route},"url":${quoted(url)},"path_params":${params},"query_params":${asked},` +
      `"headers":${lines},"client_address":${quoted(clientAddress)}`,
  );
}

/** A repeated name gives a list, any other a string. */
export function queryText(query: string): ByteString {
  const members = new Map<string, string | string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const sign = pair.indexOf('=');
    const name = decodeForm(sign < 0 ? pair : pair.slice(0, sign));
    const value = sign < 0 ? '' : decodeForm(pair.slice(sign + 1));
    const known = members.get(name);
    if (known === undefined) members.set(name, value);
    else if (typeof known === 'string') members.set(name, [known, value]);
    else known.push(value);
  }
  return objectText(members);
}

function parametersText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return '{}';
  let text = '{';
  for (let at = 0; at < names.length; at++) {
    text += `${at === 0 ? '' : ','}"${names[at]}":${quoted(values[at] ?? '')}`;
  }
  return `${text}}`;
}

/** Repeated headers are joined as HTTP defines. */
function headersText(headers: HeaderLines, requestIdHeader: string, requestId: string): string {
  let text = '{';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name === requestIdHeader || isRepetition(headers, at)) continue;
    text += `${quoted(name)}:${quoted(joinedValue(headers, at))},`;
  }
  return `${text}${quoted(requestIdHeader)}:${quoted(requestId)}}`;
}

function isRepetition(headers: HeaderLines, at: number): boolean {
  const name = headers[at];
  for (let before = 0; before < at; before += 2) if (headers[before] === name) return true;
  return false;
}

function joinedValue(headers: HeaderLines, at: number): string {
  const name = headers[at];
  let value = headers[at + 1] ?? '';
  for (let after = at + 2; after < headers.length; after += 2) {
    if (headers[after] === name) value += `${name === 'cookie' ? '; ' : ', '}${headers[after + 1] ?? ''}`;
  }
  return value;
}

/** The first header of a name. */
export function headerOf(headers: HeaderLines, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** All headers of a name, in order. */
export function linesOf(headers: HeaderLines, name: string): string[] {
  return headers.filter((_value, at) => at % 2 === 1 && headers[at - 1] === name);
}

/** Decodes form encoding; an invalid escape stays as it is. */
function decodeForm(text: string): string {
  if (!/[%+]/.test(text)) return text;
  return new URLSearchParams(`=${text.replaceAll('&', '%26')}`).get('') ?? '';
}

/** An object of strings, or of lists of strings where a name occurs more than once. */
export function objectText(members: ReadonlyMap<string, string | readonly string[]>): ByteString {
  let text = '{';
  for (const [name, value] of members) {
    const shown = typeof value === 'string' ? quoted(value) : `[${value.map(quoted).join(',')}]`;
    text += `${text === '{' ? '' : ','}${quoted(name)}:${shown}`;
  }
  return asByteString(`${text}}`);
}

/** JSON text from pieces, without building the value first. */
export function joined(...parts: readonly string[]): ByteString {
  return asByteString(parts.join(''));
}
