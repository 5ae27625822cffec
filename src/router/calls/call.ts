// A call as it passes between the parts of the router: its id for the caller, what its executor gets, and its outcome.

import type { Refusal } from '../../core/calls/refusal.ts';
import type { ErrorBody, TriggerOrigin } from '../../protocol/frames/frames.ts';
import { ERROR_TEXT_CHARS_MAX } from '../../protocol/frames/limits.ts';
import { byteStringToText, detach, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';

/** The id under which a caller knows its call, as its wire form writes it. */
export type CallerRef = string | number;

/** What the executor gets of a call. Payloads may be views of a message: they are copied, or used before it is gone. */
export interface CallOrder {
  readonly functionId: string;
  readonly data: Payload | undefined;
  readonly metadata: Payload | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** The depth of the call itself in its chain: one more than its caller's. */
  readonly depth: number;
  readonly timeoutMs: number;
  /** The trigger that caused the call, if any. */
  readonly trigger: TriggerOrigin | undefined;
}

/** No `result` and no `error`: success without a value. */
export interface Outcome {
  readonly result?: Payload | undefined;
  readonly error?: Payload | undefined;
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
  /** With an error: no handler has seen the call. Another engine may try it. */
  readonly isUnhanded?: boolean | undefined;
  /** With an error: the connection to the engine that ran it ended, and says nothing about the handler. */
  readonly isEngineLost?: boolean | undefined;
}

/** The caller inside the engine: it gets the outcome as it is, and not as a frame. */
export interface LocalCaller {
  settle(outcome: Outcome): void;
}

export function outcomeOf(refusal: Refusal): Outcome {
  return outcomeOfError(refusal.toBody());
}

export function outcomeOfError(error: ErrorBody): Outcome {
  return { error: Payload.ofText(rawJson(error)) };
}

export function outcomeOfValue(value: unknown): Outcome {
  return { result: Payload.ofText(rawJson(value ?? null)) };
}

/**
 * An error of another program in words: code and message on one line, where there are both. The error may be any JSON,
 * so values that are not text are never converted: converting an object of an untrusted client into a string can throw.
 */
export function errorLine(error: RawJson): string {
  const { code, message } = fieldsOf(error);
  const text = typeof code === 'string' && typeof message === 'string' ? `${code}: ${message}` : errorText(error);
  return shortened(text);
}

/** The message. Without one, the error as it came. */
export function errorText(error: RawJson): string {
  const { message } = fieldsOf(error);
  return shortened(typeof message === 'string' ? message : byteStringToText(error));
}

/** Shortened and copied: it is kept with the trigger, and must not keep its frame in memory. */
function shortened(text: string): string {
  return detach(text.slice(0, ERROR_TEXT_CHARS_MAX));
}

function fieldsOf(error: RawJson): { readonly code?: unknown; readonly message?: unknown } {
  const value = parseRawJson(error);
  if (typeof value === 'string') return { message: value };
  return typeof value === 'object' && value !== null ? value : {};
}
