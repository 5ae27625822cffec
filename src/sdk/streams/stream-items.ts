// Messages of the stream server, as far as this side relies on them (modules 4.4), and the state of a group at a
// subscriber: the snapshot, and every change since.

/**
 * A change of one item, as subscribers receive it.
 *
 * @example
 * import type { StreamChange } from 'svc-sdk';
 *
 * export const describe = ({ type, id }: StreamChange<unknown>): string => `${id}: ${type}`;
 */
export interface StreamChange<T> {
  readonly type: 'create' | 'update' | 'delete';
  readonly id: string;
  /** The new data; for a deletion, the data before it. */
  readonly data: T;
  /** Position in the group: it increases by one with every event. */
  readonly seq: number;
  /** How many earlier events were skipped, if any: with `conflate` only. */
  readonly conflated?: number;
  /** Unix milliseconds. */
  readonly timestamp: number;
}

/**
 * An event of `send`: it changes no item.
 *
 * @example
 * import type { StreamEvent } from 'svc-sdk';
 *
 * export const isTyping = (event: StreamEvent): boolean => event.type === 'typing';
 */
export interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
  /** The item of the event, if it names one. */
  readonly id: string | null;
  readonly seq: number;
  /** As in `StreamChange`. */
  readonly conflated?: number;
  readonly timestamp: number;
}

/** The position of a message, in the form that users receive. */
export function positionIn({ seq = 0, conflated, timestamp }: StreamMessage) {
  return { seq, ...(conflated > 0 && { conflated }), timestamp };
}

export class StreamItems<T> {
  readonly #items = new Map<string, T>();
  /** The item that the subscription is restricted to: its snapshot has no list of names. */
  readonly #only: string | undefined;
  /** Whether the creation of an item may have been skipped, or its deletion. */
  readonly #isConflated: boolean;

  constructor(only: string | undefined, isConflated: boolean) {
    this.#only = only;
    this.#isConflated = isConflated;
  }

  get map(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /** Replaces everything with a new snapshot. */
  reset({ data, ids }: StreamMessage): void {
    this.#items.clear();
    // The engine sends what was stored; that it matches `T` is the user's own claim.
    if (this.#only !== undefined) {
      if (data !== null && data !== undefined) this.#items.set(this.#only, data as T);
    } else if (Array.isArray(data)) {
      for (const [index, value] of data.entries()) this.#items.set(ids[index] ?? String(index), value as T);
    }
  }

  /** `undefined`: the message is not about an item. */
  change(message: StreamMessage): StreamChange<T> | undefined {
    const { kind, id, data } = message;
    if (id === null || (kind !== 'create' && kind !== 'update' && kind !== 'delete')) return undefined;
    const isValue = kind !== 'delete';
    const type = isValue && this.#isConflated ? (this.#items.has(id) ? 'update' : 'create') : kind;
    if (isValue) this.#items.set(id, data as T);
    else this.#items.delete(id);
    return { type, id, data: data as T, ...positionIn(message) };
  }
}

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
