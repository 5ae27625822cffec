// Inputs and outputs of calls on the router's thread: an input is held until its call ends, because only then it is
// known whether the pair is kept. The telemetry thread parses, redacts and stores them (`payload-store.ts`).
//
// What always holds: held inputs and pairs that wait for the telemetry thread have bounds of their own. What is over a
// bound is not kept, and the pair says so (O9).

import { Payload } from '../../../protocol/payload/payload.ts';
import type { OpenSpan } from '../spans/span-rows.ts';
import { isChosen, PayloadRules, type PayloadSettings } from './payload-rules.ts';

/** Why an input or an output is not here. */
export type PayloadGap = 'no_room' | 'too_large' | 'unreadable';

/** One input or output on its way to the telemetry thread. */
export interface PayloadPart {
  /** The beginning of its JSON, as bytes in a text; null: not kept. */
  readonly json: string | null;
  readonly isWhole: boolean;
  /** Of the whole value, in the form in which it was sent. */
  readonly bytes: number;
  readonly gap?: PayloadGap;
}

export interface PayloadPair {
  readonly traceId: string;
  readonly spanId: string;
  readonly hasFailed: boolean;
  readonly input: PayloadPart;
  /** Null: the call has no result. */
  readonly output: PayloadPart | null;
}

/** The input of a call that runs. */
interface HeldInput {
  readonly value: HeldValue;
  /** What it adds to the bytes held. */
  readonly bytes: number;
  /** Of the whole value. */
  readonly sentBytes: number;
  readonly isKeptAnyway: boolean;
}

/** The beginning of a JSON text, a packed value in memory of its own, or why there is neither. */
type HeldValue = string | Payload | { readonly gap: PayloadGap };

/** Packed values are converted on the router's thread: a large one would delay all calls. */
const PACKED_BYTES_MAX = 1024 * 1024;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
const PAIR_OWN_BYTES = 256;

export class PayloadCapture {
  #settings: PayloadSettings;
  #rules: PayloadRules;
  readonly #held = new Map<OpenSpan, HeldInput>();
  #heldBytes = 0;
  #pairs: PayloadPair[] = [];
  #pairBytes = 0;
  readonly #dropped: () => void;

  /** `dropped` is called for each pair of which a part found no room. */
  constructor(settings: PayloadSettings, dropped: () => void) {
    this.#settings = settings;
    this.#rules = new PayloadRules(settings.rules);
    this.#dropped = dropped;
  }

  /** For calls that begin from now on. */
  adopt(settings: PayloadSettings): void {
    this.#settings = settings;
    this.#rules = new PayloadRules(settings.rules);
  }

  /** A call with a span begins. */
  begin(span: OpenSpan, functionId: string, input: Payload | undefined): void {
    const mode = this.#rules.modeOf(functionId);
    if (mode === 'off') return;
    const { samplingRatio, maxBytes, memoryMaxBytes } = this.#settings;
    const isKeptAnyway = mode === 'all' || (mode === 'sampled' && isChosen(span.traceId, samplingRatio));
    const sentBytes = input?.byteLength ?? 0;
    const bytes = PAIR_OWN_BYTES + (input?.form === 'JSON' ? Math.min(sentBytes, maxBytes) : sentBytes);
    const value = this.#heldBytes + bytes > memoryMaxBytes ? NO_ROOM : hold(input, maxBytes);
    const isHeld = typeof value === 'string' || value instanceof Payload;
    this.#held.set(span, { value, bytes: isHeld ? bytes : 0, sentBytes, isKeptAnyway });
    if (isHeld) this.#heldBytes += bytes;
  }

  /** The call has ended. */
  end(span: OpenSpan, output: Payload | undefined, hasFailed: boolean): void {
    const held = this.#held.get(span);
    if (held === undefined) return;
    this.#held.delete(span);
    this.#heldBytes -= held.bytes;
    if (!held.isKeptAnyway && !hasFailed) return;
    const input = this.#partOf(held.value, held.sentBytes);
    const result = output && this.#partOf(hold(output, this.#settings.maxBytes), output.byteLength);
    this.#add(span, hasFailed, input, result ?? null);
  }

  /** The pairs since the last call. */
  take(): PayloadPair[] {
    const pairs = this.#pairs;
    this.#pairs = [];
    this.#pairBytes = 0;
    return pairs;
  }

  /** The same text, cut to its limit. */
  #partOf(value: HeldValue, bytes: number): PayloadPart {
    if (typeof value === 'object' && 'gap' in value) return { json: null, isWhole: false, bytes, gap: value.gap };
    const json = typeof value === 'string' ? value : value.asText();
    if (json === undefined) return { json: null, isWhole: false, bytes, gap: 'unreadable' };
    const { maxBytes } = this.#settings;
    if (typeof value === 'string') return { json, isWhole: json.length >= bytes, bytes };
    return { json: json.slice(0, maxBytes), isWhole: json.length <= maxBytes, bytes };
  }

  #add({ traceId, spanId }: OpenSpan, hasFailed: boolean, input: PayloadPart, output: PayloadPart | null): void {
    const bytes = PAIR_OWN_BYTES + (input.json?.length ?? 0) + (output?.json?.length ?? 0);
    if (this.#pairBytes + bytes > WAITING_BYTES_MAX) return this.#dropped();
    if (input.gap === 'no_room') this.#dropped();
    this.#pairBytes += bytes;
    this.#pairs.push({ traceId, spanId, hasFailed, input, output });
  }
}

const NO_ROOM = { gap: 'no_room' } as const;
const TOO_LARGE = { gap: 'too_large' } as const;

function hold(payload: Payload | undefined, maxBytes: number): HeldValue {
  if (payload === undefined) return 'null';
  const json = payload.jsonBeginning(maxBytes);
  if (json !== undefined) return json;
  return payload.byteLength > PACKED_BYTES_MAX ? TOO_LARGE : payload.kept();
}
