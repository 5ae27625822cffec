// The request object for handlers, conditions and middleware (modules 5.3), written as JSON text: a request is on the
// hot path, and its body is inserted as it came.

import { asByteString, type ByteString, quoted } from '../json/byte-string.ts';
import { queryMembers } from './query.ts';

export interface RequestHead {
  readonly route: RouteText;
  /** Of the parameters of the route. */
  readonly values: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names in lower case and values in turn, as received. */
  readonly headers: readonly string[];
  readonly clientAddress: string;
  readonly requestId: string;
  /** The header that carries the request id, in lower case. */
  readonly requestIdHeader: string;
}

/** What requests of one route have in common. */
export interface RouteText {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  /** Its members in the request object: `"path":…,"trigger":{…}`. */
  readonly members: ByteString;
}

export function routeText(method: string, path: string, parameters: readonly string[]): RouteText {
  const quotedPath = quoted(path);
  const trigger = `{"type":"http","path":${quotedPath},"method":${quoted(method)}}`;
  return { method, path, parameters, members: asByteString(`"path":${quotedPath},"trigger":${trigger}`) };
}

export function urlOf({ path, query }: RequestHead): string {
  return query === '' ? path : `${path}?${query}`;
}

/** The object up to the body, without the closing brace. */
export function requestText(head: RequestHead): ByteString {
  const { route, values, method, query, headers, clientAddress, requestId, requestIdHeader } = head;
  const params = parametersText(route.parameters, values);
  const asked = query === '' ? '{}' : queryText(query);
  const lines = headersText(headers, requestIdHeader, requestId);
  return asByteString(
    `{"method":${quoted(method)},${route.members},"url":${quoted(urlOf(head))},"path_params":${params},` +
      `"query_params":${asked},"headers":${lines},"client_address":${quoted(clientAddress)}`,
  );
}

/** A repeated name gives a list, any other a string. */
export function queryText(query: string): ByteString {
  return objectText(queryMembers(query));
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
function headersText(headers: readonly string[], requestIdHeader: string, requestId: string): string {
  let text = '{';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name === requestIdHeader || isRepetition(headers, at)) continue;
    text += `${quoted(name)}:${quoted(joinedValue(headers, at))},`;
  }
  return `${text}${quoted(requestIdHeader)}:${quoted(requestId)}}`;
}

function isRepetition(headers: readonly string[], at: number): boolean {
  const name = headers[at];
  for (let before = 0; before < at; before += 2) if (headers[before] === name) return true;
  return false;
}

function joinedValue(headers: readonly string[], at: number): string {
  const name = headers[at];
  let value = headers[at + 1] ?? '';
  for (let after = at + 2; after < headers.length; after += 2) {
    if (headers[after] === name) value += `${name === 'cookie' ? '; ' : ', '}${headers[after + 1] ?? ''}`;
  }
  return value;
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
