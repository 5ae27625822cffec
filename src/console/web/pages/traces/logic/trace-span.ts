// What the trace views read from one span, with links to the pages of the objects that its attributes name (TRC-17).
// Attributes are pairs and may occur twice; where one value is needed, the last one counts.

import type { SpanRecord } from '../../../../../core/telemetry/records/records.ts';

export interface Span extends SpanRecord {
  /** As the server counts them. There are fewer here where a trace is read in levels (TRC-10). */
  readonly child_count?: number;
}

/** The kind of work of a span, from the names that the engine and the SDK give (modules 11.4). */
export type SpanKind = 'call' | 'enqueue' | 'queue' | 'trigger' | 'http' | 'execute' | 'other';

const KIND_OF_FIRST_WORD: Readonly<Record<string, SpanKind>> = {
  call: 'call',
  enqueue: 'enqueue',
  fn_queue: 'queue',
  queue: 'queue',
  trigger: 'trigger',
  state_triggers: 'trigger',
  stream_triggers: 'trigger',
  execute: 'execute',
};
const HTTP_METHOD = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;
const BAGGAGE_PREFIX = 'baggage.';

export function spanKind(name: string): SpanKind {
  const space = name.indexOf(' ');
  const word = space === -1 ? name : name.slice(0, space);
  return KIND_OF_FIRST_WORD[word] ?? (HTTP_METHOD.test(word) ? 'http' : 'other');
}

export function attributeOf(span: Pick<Span, 'attributes'>, key: string): string | undefined {
  return span.attributes.findLast(([name]) => name === key)?.[1];
}

/** The function of a span: its attribute, or the rest of a name such as `call orders::create`. */
export function functionOf(span: Pick<Span, 'name' | 'attributes'>): string | undefined {
  const named = attributeOf(span, 'function_id') ?? attributeOf(span, 'faas.invoked_name');
  if (named !== undefined) return named;
  const kind = spanKind(span.name);
  if (kind !== 'call' && kind !== 'execute' && kind !== 'enqueue') return undefined;
  return span.name.slice(span.name.indexOf(' ') + 1).split(' → ')[0];
}

/** Whether inputs and outputs may be kept for it. */
export function isCallSpan({ name }: Pick<Span, 'name'>): boolean {
  const kind = spanKind(name);
  return kind === 'call' || kind === 'execute';
}

export function isInternal(span: Pick<Span, 'name' | 'attributes'>): boolean {
  const kind = attributeOf(span, 'svc.function.kind') ?? attributeOf(span, 'iii.function.kind');
  return kind === 'internal' || (functionOf(span)?.startsWith('engine::') ?? false);
}

/** Baggage is stored as attributes with a prefix, which is removed for display. */
export function baggageOf(span: Pick<Span, 'attributes'>): [key: string, value: string][] {
  return span.attributes
    .filter(([key]) => key.startsWith(BAGGAGE_PREFIX))
    .map(([key, value]) => [key.slice(BAGGAGE_PREFIX.length), value]);
}

export function tagsOf(span: Pick<Span, 'attributes'>): (readonly [key: string, value: string])[] {
  return span.attributes.filter(([key]) => !key.startsWith(BAGGAGE_PREFIX));
}

export interface SpanError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
}

/** The error of a span and its causes: one entry per exception event, otherwise only the status text. */
export function errorsOf(span: Pick<Span, 'events' | 'status' | 'status_description'>): SpanError[] {
  const thrown = span.events
    .filter((event) => event.name === 'exception')
    .map((event) => ({
      type: attributeOf(event, 'exception.type') ?? '',
      message: attributeOf(event, 'exception.message') ?? '',
      stack: attributeOf(event, 'exception.stacktrace') ?? '',
    }));
  if (thrown.length > 0 || span.status !== 'error') return thrown;
  return [{ type: '', message: span.status_description ?? 'The span failed without a message', stack: '' }];
}

export interface Neighbour {
  readonly label: string;
  readonly value: string;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

export function neighboursOf(span: Pick<Span, 'name' | 'attributes' | 'service_name'>): Neighbour[] {
  const found: Neighbour[] = [];
  const add = (
    label: string,
    value: string | undefined,
    to: string,
    search: (id: string) => Record<string, string>,
  ): void => {
    if (value !== undefined && value !== '') found.push({ label, value, to, search: search(value) });
  };
  add('Function', functionOf(span), '/functions', (id) => ({ id }));
  add('Called by worker', attributeOf(span, 'svc.caller.worker'), '/workers', (q) => ({ q }));
  const queue = attributeOf(span, 'messaging.destination.name');
  add('Queue', queue, '/queues', (name) => ({ queue: name }));
  add('Queue job', attributeOf(span, 'messaging.message.id'), '/queues', (id) => ({ queue: queue ?? '', id }));
  add('Trigger', attributeOf(span, 'trigger.id'), '/triggers', (id) => ({ id }));
  return found;
}
