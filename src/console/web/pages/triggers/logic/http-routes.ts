// HTTP triggers: a request of the request builder as text that can be run (APP-10), the headers of every request that
// it sends, and routes that conflict (TRG-3).

import { parseRoutePattern, type RoutePattern } from '../../../../../core/routing/route-pattern.ts';
import type { HttpRequest } from '../../../../api/console-server.ts';
import type { TriggerRow } from '../../../../api/registry.ts';
import { shellQuote } from '../../../kit/inputs/call-text.ts';
import { configOf, textIn } from './trigger-kinds.ts';

export const WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH'];

export function asHttpCurl({ method, path, headers, body }: HttpRequest, httpUrl: string): string {
  const words = ['curl', '-sS', '-i', '-X', method];
  for (const [name, value] of headers) words.push('-H', `${name}: ${value}`);
  if (body !== undefined) words.push('--data-raw', body);
  words.push(`${httpUrl}${path}`);
  return words.map(shellQuote).join(' ');
}

export function asFetch({ method, path, headers, body }: HttpRequest, httpUrl: string): string {
  const init = [`method: ${JSON.stringify(method)}`];
  if (headers.length > 0) init.push(`headers: ${JSON.stringify(headers)}`);
  if (body !== undefined) init.push(`body: ${JSON.stringify(body)}`);
  const lines = init.map((member) => `  ${member},\n`).join('');
  return `const response = await fetch(${JSON.stringify(`${httpUrl}${path}`)}, {
${lines}});
console.log(response.status, await response.text());
`;
}

/** The trace id is chosen before the request, so that the trace of the answer can be opened. */
export function newTrace(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): { id: string; header: string } {
  const hex = (length: number): string =>
    [...random(new Uint8Array(length))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const id = hex(16);
  return { id, header: `00-${id}-${hex(8)}-01` };
}

// Which HTTP routes conflict (TRG-3): two of one shape, of which the newest is called, and a route that loses some of
// its requests to another, because a literal segment is matched before a parameter.

export interface RouteNote {
  readonly kind: 'conflict' | 'shadowed';
  readonly text: string;
}

interface Route {
  readonly id: string;
  readonly functionId: string;
  readonly method: string;
  readonly pattern: RoutePattern;
}

/** Up to this many routes, each is compared with every other of its method and length. Applications have tens. */
const COMPARED_MAX = 1_000;

export function methodOf(config: unknown): string {
  return (textIn(configOf(config), 'http_method') ?? 'GET').toUpperCase();
}

/** As it is registered, with the leading slash. */
export function pathOf(config: unknown): string {
  const path = textIn(configOf(config), 'api_path') ?? '/';
  return path.startsWith('/') ? path : `/${path}`;
}

export function routeNotes(rows: readonly TriggerRow[]): ReadonlyMap<string, RouteNote> {
  const groups = new Map<string, Route[]>();
  for (const { id, trigger_type: type, function_id: functionId, config } of rows) {
    if (type !== 'http') continue;
    const parsed = parseRoutePattern(pathOf(config));
    if (!parsed.ok) continue;
    const route = { id, functionId, method: methodOf(config), pattern: parsed.pattern };
    const key = `${route.method} ${parsed.pattern.segments.length}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (group.length < COMPARED_MAX) group.push(route);
  }
  const notes = new Map<string, RouteNote>();
  for (const group of groups.values()) {
    for (const route of group) {
      const note = noteOf(route, group);
      if (note !== undefined) notes.set(route.id, note);
    }
  }
  return notes;
}

function noteOf(route: Route, group: readonly Route[]): RouteNote | undefined {
  const same = group.find((other) => other !== route && other.pattern.shape === route.pattern.shape);
  if (same !== undefined) {
    const name = `${same.method} ${same.pattern.text}`;
    return { kind: 'conflict', text: `The same route as ${name} of ${same.functionId}; the newest is called` };
  }
  const over = group.find((other) => other !== route && takesFrom(other.pattern, route.pattern));
  if (over === undefined) return undefined;
  return { kind: 'shadowed', text: `Requests for ${over.pattern.text} go to ${over.functionId}` };
}

/** Whether some path matches both and the first wins: at the first segment where they differ, it has the literal. */
function takesFrom(winner: RoutePattern, other: RoutePattern): boolean {
  let decided = false;
  for (const [at, own] of winner.segments.entries()) {
    const theirs = other.segments[at];
    if (theirs === undefined) return false;
    if (!own.isParameter && !theirs.isParameter && own.text !== theirs.text) return false;
    if (decided || own.isParameter === theirs.isParameter) continue;
    if (own.isParameter) return false;
    decided = true;
  }
  return decided;
}

export interface RequestTarget {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** The address of a request: parameters and query escaped, the rest as it was typed. */
export function requestPath({ path, params, query }: RequestTarget): string {
  const filled = path.replace(/:([A-Za-z_][\w-]*)/g, (whole, name: string) => {
    const value = params[name];
    return value === undefined || value === '' ? whole : encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of query) if (name !== '') search.append(name, value);
  const text = search.toString();
  if (text === '') return filled;
  return `${filled}${filled.includes('?') ? '&' : '?'}${text}`;
}

export function parametersIn(path: string): string[] {
  return [...path.matchAll(/:([A-Za-z_][\w-]*)/g)].map(([, name]) => name ?? '');
}
