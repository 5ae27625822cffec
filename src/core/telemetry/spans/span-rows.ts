// Spans on their way to the telemetry thread: each is a run of plain values in a list. Thousands of small objects would
// cost the router's thread more to post than the calls that they describe. The buffer keeps the rows until the
// telemetry thread takes them.
//
// Where that thread keeps fewer spans than arrive, most need not be sent: then the newest replace the oldest here
// already, as they would there. Otherwise the newest are refused.

/** Between the keys and values of `OpenSpan.attributes`, and between the parts of an error. */
export const SEPARATOR = '\0';

/** The number of values of a span in the list. `writeRow` and `readRow` use the same order. */
export const ROW_LENGTH = 12;

export const STATUS = { unset: 0, ok: 1, error: 2 } as const;

/** The attributes of a call's span with the sizes of its payload and its result. */
export const RUN_BYTES = { input: 'svc.input.bytes', output: 'svc.output.bytes' } as const;

/** A sampled span that has begun. `traceparent` is passed on. */
export class OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: a root. */
  readonly parentSpanId: string;
  name: string;
  readonly functionId: string;
  /** Keys and values alternate. */
  attributes = '';
  readonly baggage: string;
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** By the same clock; below 0 while it has not ended. */
  endedMs = -1;
  status: number = STATUS.unset;
  /** Code, message and stack. */
  error = '';
  /** A traceparent header that differs from the parent's. */
  link = '';
  /** Where the collector lists it while it may have to be reported as pending; below 0: nowhere. */
  place = -1;

  constructor(
    traceId: string,
    spanId: string,
    parentSpanId: string,
    name: string,
    functionId: string,
    baggage: string,
    startedMs: number,
  ) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.parentSpanId = parentSpanId;
    this.name = name;
    this.functionId = functionId;
    this.baggage = baggage;
    this.startedMs = startedMs;
  }

  /** The context for its child spans. */
  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  get hasEnded(): boolean {
    return this.endedMs >= 0;
  }

  add(key: string, value: string): void {
    if (value !== '') this.attributes += attributeText(key, value);
  }
}

/** One attribute in the form of `OpenSpan.attributes`: for attributes that many spans share. */
export function attributeText(key: string, value: string): string {
  return leadOf(key) + (value.includes(SEPARATOR) ? value.replaceAll(SEPARATOR, ' ') : value);
}

/** Joined once: each joint of two texts is an object that lives until the span is sent. Keys are texts of the code. */
function leadOf(key: string): string {
  let lead = leads.get(key);
  if (lead === undefined) {
    lead = SEPARATOR + key + SEPARATOR;
    leads.set(key, lead);
  }
  return lead;
}

const leads = new Map<string, string>();

/** `epochMs`: the offset from the monotonic clock to Unix time. */
export function writeRow(rows: (string | number)[], at: number, span: OpenSpan, epochMs: number): void {
  rows[at] = span.traceId;
  rows[at + 1] = span.spanId;
  rows[at + 2] = span.parentSpanId;
  rows[at + 3] = span.name;
  rows[at + 4] = span.functionId;
  rows[at + 5] = span.attributes;
  rows[at + 6] = span.baggage;
  rows[at + 7] = epochMs + span.startedMs;
  rows[at + 8] = span.hasEnded ? epochMs + span.endedMs : 0;
  rows[at + 9] = span.status;
  rows[at + 10] = span.error;
  rows[at + 11] = span.link;
}

export interface SpanRow {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly functionId: string;
  readonly attributes: string;
  readonly baggage: string;
  /** Unix milliseconds with their fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly error: string;
  readonly link: string;
}

export function readRow(rows: readonly (string | number)[], at: number): SpanRow {
  return {
    traceId: String(rows[at]),
    spanId: String(rows[at + 1]),
    parentSpanId: String(rows[at + 2]),
    name: String(rows[at + 3]),
    functionId: String(rows[at + 4]),
    attributes: String(rows[at + 5]),
    baggage: String(rows[at + 6]),
    startMs: Number(rows[at + 7]),
    endMs: Number(rows[at + 8]),
    status: Number(rows[at + 9]),
    error: String(rows[at + 10]),
    link: String(rows[at + 11]),
  };
}

/** While the telemetry thread accepts nothing. */
const ROWS_MAX = 8_192;

export class SpanBuffer {
  /** How many of the newest the receiver keeps. */
  spansKept: number;
  #rows: (string | number)[] = [];
  /** The position of the oldest row once the newest have begun to replace them. */
  #oldestAt = 0;
  /** Replaced since the last `take`. */
  #pushedOut = 0;

  constructor(spansKept: number) {
    this.spansKept = spansKept;
  }

  get count(): number {
    return this.#rows.length / ROW_LENGTH;
  }

  /** False: there was no room. */
  add(span: OpenSpan, epochMs: number): boolean {
    const { length } = this.#rows;
    if (length < Math.min(this.spansKept, ROWS_MAX) * ROW_LENGTH) {
      writeRow(this.#rows, length, span, epochMs);
      return true;
    }
    if (length === 0 || this.spansKept > ROWS_MAX) return false;
    writeRow(this.#rows, this.#oldestAt, span, epochMs);
    this.#oldestAt = (this.#oldestAt + ROW_LENGTH) % length;
    this.#pushedOut++;
    return true;
  }

  /** The oldest first. */
  take(): { readonly rows: readonly (string | number)[]; readonly pushedOut: number } {
    const at = this.#oldestAt;
    const rows = at === 0 ? this.#rows : [...this.#rows.slice(at), ...this.#rows.slice(0, at)];
    const pushedOut = this.#pushedOut;
    this.#rows = [];
    this.#oldestAt = this.#pushedOut = 0;
    return { rows, pushedOut };
  }
}
