// The requests that handlers of HTTP triggers get, and what they return.

import type { ChannelReader } from '../channels/channel-reader.ts';
import type { ChannelWriter } from '../channels/channel-writer.ts';

/**
 * The payload of an HTTP trigger's handler.
 *
 * @example
 * import { registerWorker, type HttpRequest } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.registerFunction('orders::accept', ({ body, headers }: HttpRequest<{ sku: string }>) => ({
 *   status_code: 201,
 *   body: { sku: body.sku, by: headers['x-user'] },
 * }));
 */
export interface HttpRequest<Body = unknown> {
  readonly method: string;
  /** The path of the trigger, such as `/users/:id`. */
  readonly path: string;
  /** Path and query as requested. */
  readonly url: string;
  readonly path_params: Readonly<Record<string, string>>;
  /** A list if the name occurs more than once. */
  readonly query_params: Readonly<Record<string, string | readonly string[]>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the client, taken from the headers of the proxies that the engine trusts. */
  readonly client_address: string;
  /** The JSON of the body; null if there is none or it has another type: read `request_body` then. */
  readonly body: Body;
  readonly trigger: { readonly type: 'http'; readonly path: string; readonly method: string };
  /** The bytes of the body, of any type. */
  readonly request_body: ChannelReader;
  /** For an answer in pieces; `streamed` makes that easier. */
  readonly response: ChannelWriter;
  /** The values that middleware added. */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * Headers of an answer. A value may be a list, for headers that are repeated.
 *
 * @example
 * import type { HttpHeaders } from 'svc-sdk';
 *
 * export const headers: HttpHeaders = { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] };
 */
export type HttpHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/**
 * A whole answer. Without a content type of its own the body is sent as JSON; with one, a text is sent unchanged.
 *
 * @example
 * import type { HttpReply } from 'svc-sdk';
 *
 * export const page: HttpReply = { status_code: 200, headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' };
 */
export interface HttpReply<Body = unknown> {
  /** 200 unless given. */
  readonly status_code?: number | undefined;
  /** As lines, `name: value`, or by name. */
  readonly headers?: HttpHeaders | readonly string[] | undefined;
  readonly body?: Body | undefined;
}
