// Requests of HTTP triggers as records (protocol/http/record-layout.ts): what their texts mean, and the object that the
// handler gets.
//
// Reading takes a few calls for a whole request: its texts are decoded together and then cut.

import type { TriggerOrigin } from '../../protocol/frames/frames.ts';
import { queryMembers } from '../../protocol/http/query.ts';
import { ANSWER_PREFIX, BODY_PREFIX, type RouteConstants, TEXT, TEXTS_MIN } from '../../protocol/http/record-layout.ts';
import { isRecord } from '../../protocol/json/record.ts';
import type { TextSource } from '../../protocol/json/text-memory.ts';
import { ChannelReader } from '../channels/channel-reader.ts';
import type { ChannelContext } from '../channels/channel-socket.ts';
import { ChannelWriter } from '../channels/channel-writer.ts';
import type { HttpRequest } from './http-messages.ts';

/** What the engine announced about a route. Requests share its objects, so they are frozen. */
export interface KnownRoute {
  readonly functionId: string;
  readonly origin: TriggerOrigin;
  readonly baggage: string;
  readonly channels: string;
  readonly parameters: readonly string[];
  readonly trigger: HttpRequest['trigger'];
}

/** `undefined`: it is not the text of a route. */
export function readRoute(text: string): KnownRoute | undefined {
  const constants = parsed(text);
  if (!isRouteConstants(constants)) return undefined;
  const { function_id: functionId, trigger, method, path, parameters, channels, baggage } = constants;
  return {
    functionId,
    origin: Object.freeze({ type: trigger.type, id: trigger.id }),
    baggage,
    channels,
    parameters,
    trigger: Object.freeze({ type: 'http', path, method }),
  };
}

/** `undefined`: it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRouteConstants(value: unknown): value is RouteConstants {
  if (!isRecord(value) || !isRecord(value.trigger) || !Array.isArray(value.parameters)) return false;
  const { function_id: id, method, path, channels, baggage, trigger, parameters } = value;
  return [id, method, path, channels, baggage, trigger.type, trigger.id, ...parameters].every(isString);
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

/** A request that was read, and the object of its handler. */
export class ReceivedRequest {
  readonly #route: KnownRoute;
  readonly #texts: readonly string[];
  readonly #headers: Record<string, string>;
  readonly #context: Record<string, unknown>;
  /** JSON that the client sent; null if it sent none. */
  body: unknown;

  constructor(route: KnownRoute, texts: readonly string[], headers: Record<string, string>, body: unknown) {
    const context: unknown = texts[TEXT.context] ? JSON.parse(texts[TEXT.context] ?? '') : undefined;
    this.#route = route;
    this.#texts = texts;
    this.#headers = headers;
    this.#context = isRecord(context) ? context : {};
    this.body = body;
  }

  open(channels: ChannelContext): HttpRequest {
    const { trigger, parameters, channels: suffix } = this.#route;
    const texts = this.#texts;
    const name = `${texts[TEXT.channelName]}${suffix}`;
    const url = texts[TEXT.url] ?? '';
    return {
      method: texts[TEXT.method] || trigger.method,
      path: trigger.path,
      trigger,
      url,
      path_params: parameters.length === 0 ? {} : parametersOf(parameters, texts),
      query_params: queryOf(url),
      headers: this.#headers,
      client_address: texts[TEXT.clientAddress] ?? '',
      body: this.body,
      request_body: new ChannelReader(channels, {
        channel_id: BODY_PREFIX + name,
        access_key: texts[TEXT.bodyKey] ?? '',
        direction: 'read',
      }),
      response: new ChannelWriter(channels, {
        channel_id: ANSWER_PREFIX + name,
        access_key: texts[TEXT.answerKey] ?? '',
        direction: 'write',
      }),
      context: this.#context,
    };
  }
}

function parametersOf(parameters: readonly string[], texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(parameters.map((name, index) => [name, texts[TEXTS_MIN + index] ?? '']));
}

function queryOf(url: string): Record<string, string | string[]> {
  const mark = url.indexOf('?');
  return mark < 0 ? {} : Object.fromEntries(queryMembers(url.slice(mark + 1)));
}

/** Reads records. It remembers the names of headers, which most requests of a client have in common. */
export class RequestReader {
  readonly #source: TextSource;
  #names = '';
  #plan: HeaderPlan = planOf('');

  constructor(source: TextSource) {
    this.#source = source;
  }

  /** Throws if the bytes are no record of the route. */
  read(bytes: Uint8Array, start: number, end: number, route: KnownRoute): ReceivedRequest {
    const textCount = u16(bytes, start);
    const textStart = start + 2 + 2 * textCount;
    let textEnd = textStart;
    for (let index = 0; index < textCount; index++) textEnd += u16(bytes, start + 2 + 2 * index);
    const valueStart = TEXTS_MIN + route.parameters.length;
    if (textCount < valueStart || textEnd > end) throw new Error('it is no record of a request');
    const texts = this.#texts(bytes, start + 2, textStart, textEnd);
    const headers = this.#headers(texts, valueStart);
    const body: unknown = textEnd === end ? null : JSON.parse(this.#source.read(bytes, textEnd, end));
    return new ReceivedRequest(route, texts, headers, body);
  }

  #texts(bytes: Uint8Array, lengthsStart: number, textStart: number, textEnd: number): string[] {
    const all = this.#source.read(bytes, textStart, textEnd);
    const isAscii = all.length === textEnd - textStart;
    const texts: string[] = [];
    let at = 0;
    for (let length = lengthsStart; length < textStart; length += 2) {
      const next = at + u16(bytes, length);
      texts.push(isAscii ? all.substring(at, next) : this.#source.read(bytes, textStart + at, textStart + next));
      at = next;
    }
    return texts;
  }

  #headers(texts: readonly string[], valueStart: number): Record<string, string> {
    const names = texts[TEXT.headerNames] ?? '';
    if (names !== this.#names) {
      this.#plan = planOf(names);
      this.#names = names;
    }
    const { keys, isPlain } = this.#plan;
    if (texts.length - valueStart !== keys.length) throw new Error('a header of the request has no value');
    if (!isPlain) return joinedHeaders(keys, texts, valueStart);
    const headers: Record<string, string> = {};
    for (let index = 0; index < keys.length; index++) headers[keys[index] ?? ''] = texts[valueStart + index] ?? '';
    return headers;
  }
}

interface HeaderPlan {
  readonly keys: readonly string[];
  /** No name is repeated, and each can be assigned. */
  readonly isPlain: boolean;
}

function planOf(names: string): HeaderPlan {
  const keys = names.split('\n');
  return { keys, isPlain: new Set(keys).size === keys.length && !keys.includes('__proto__') };
}

/** Repeated headers are joined as HTTP defines. */
function joinedHeaders(keys: readonly string[], texts: readonly string[], valueStart: number): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [index, name] of keys.entries()) {
    const value = texts[valueStart + index] ?? '';
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}${name === 'cookie' ? '; ' : ', '}${value}`);
  }
  return Object.fromEntries(headers);
}

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}
