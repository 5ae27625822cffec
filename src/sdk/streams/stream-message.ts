// Reads messages of the stream server, and checks what this side relies on (modules 4.4).

/** One message of the server; several may share a frame. */
export interface StreamMessage {
  readonly timestamp: number;
  readonly id: string | null;
  readonly seq: number | undefined;
  readonly epoch: string | undefined;
  /** How many earlier events were replaced by newer ones. */
  readonly conflated: number;
  readonly kind: string;
  readonly data: unknown;
  /** The names of the items of a snapshot. */
  readonly ids: readonly string[];
  readonly recovered: boolean;
  /** Set for a custom event. */
  readonly custom: { readonly type: string; readonly data: unknown } | undefined;
}

/** The messages in a frame; invalid ones are dropped. */
export function readStreamFrame(text: string): readonly StreamMessage[] {
  const value: unknown = JSON.parse(text);
  const wrappers = Array.isArray(value) ? value : [value];
  return wrappers.flatMap((wrapper) => readWrapper(wrapper) ?? []);
}

function readWrapper(value: unknown): StreamMessage | undefined {
  const wrapper = fieldsOf(value);
  const event = fieldsOf(wrapper.event);
  if (typeof event.type !== 'string') return undefined;
  const nested = fieldsOf(event.event);
  return {
    timestamp: typeof wrapper.timestamp === 'number' ? wrapper.timestamp : 0,
    id: typeof wrapper.id === 'string' ? wrapper.id : null,
    seq: typeof wrapper.seq === 'number' ? wrapper.seq : undefined,
    epoch: typeof wrapper.epoch === 'string' ? wrapper.epoch : undefined,
    conflated: typeof wrapper.conflated === 'number' ? wrapper.conflated : 0,
    kind: event.type,
    data: event.data,
    ids: Array.isArray(event.ids) ? event.ids.map(String) : [],
    recovered: event.recovered === true,
    custom: typeof nested.type === 'string' ? { type: nested.type, data: nested.data } : undefined,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
