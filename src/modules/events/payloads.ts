// The payloads of this module's functions, and the messages between engines. `src/validators/module-payloads.ts`
// compiles these shapes.

export interface PublishPayload {
  topic?: string | null;
  data?: unknown;
}

export interface EmitPayload {
  topic?: string | null;
  /** Accepted in place of `topic`. */
  name?: string | null;
  data?: unknown;
  /** Accepted in place of `data`. */
  payload?: unknown;
}

/** The first line of a message between engines; the event's data follows it. Unknown fields are ignored. */
export interface EventHeader {
  v: 1;
  topic: string;
  depth: number;
  traceparent?: string | undefined;
  baggage?: string | undefined;
}
