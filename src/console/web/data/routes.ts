// The routes of the engine, typed by the contract: `call('GET /functions/{id}', { parts: { id }, signal })`.

import type { AnswerOf, BodyOf, QueryOf, RouteName } from '../../../console-api/routes.ts';
import { api, apiText } from './api.ts';

export interface CallOptions<R extends RouteName> {
  /** The values of `{id}` and the like, unencoded: they are encoded here. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly query?: Partial<QueryOf<R>>;
  readonly body?: BodyOf<R>;
  /** Used in place of `body`: JSON as the user typed it, with its numbers. */
  readonly text?: string;
  readonly signal?: AbortSignal;
}

export function call<R extends RouteName>(route: R, options: CallOptions<R> = {}): Promise<AnswerOf<R>> {
  const { method, path } = locate(route, options);
  return api<AnswerOf<R>>(path, { method, ...sent(options) });
}

/** The answer as text, for values that are shown as they are stored. */
export function callText<R extends RouteName>(route: R, options: CallOptions<R> = {}): ReturnType<typeof apiText> {
  const { method, path } = locate(route, options);
  return apiText(path, { method, ...sent(options) });
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

function locate<R extends RouteName>(
  route: R,
  { parts = {}, query }: CallOptions<R>,
): { method: Method; path: string } {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(parts[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '' && value !== false) search.set(name, String(value));
  }
  return { method: method as Method, path: search.size === 0 ? path : `${path}?${search}` };
}

function sent<R extends RouteName>({ body, text, signal }: CallOptions<R>): { text?: string; signal?: AbortSignal } {
  const json = text ?? (body === undefined ? undefined : JSON.stringify(body));
  return { ...(json !== undefined && { text: json }), ...(signal && { signal }) };
}
