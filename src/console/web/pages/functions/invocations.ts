// Calls from this browser: the last fifty of each function, stored only in the browser (FUN-7).

import { INVOKE_HEADERS } from '../../../../console-api/envelope.ts';
import { keep, readKept } from '../../data/preferences.ts';

export interface Invocation {
  readonly atMs: number;
  readonly mode: 'wait' | 'void' | 'enqueue';
  readonly input: string;
  /** JSON as received, or the error's JSON; cut where it is long. */
  readonly output: string;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly bytes: number;
  readonly worker: string | undefined;
  readonly traceId: string | undefined;
}

const KEPT = 50;
const KEPT_CHARS = 32_768;

const placeOf = (functionId: string): string => `svc.invocations.${functionId}`;

export function pastInvocations(functionId: string): readonly Invocation[] {
  const kept = readKept(placeOf(functionId));
  return Array.isArray(kept) ? kept : [];
}

/** Newest first. A call that is too long to be stored is kept without its texts. */
export function rememberInvocation(functionId: string, invocation: Invocation): readonly Invocation[] {
  const isLong = invocation.output.length + invocation.input.length > KEPT_CHARS;
  const kept = isLong ? { ...invocation, output: '"(too long to be kept)"' } : invocation;
  const all = [kept, ...pastInvocations(functionId)].slice(0, KEPT);
  keep(placeOf(functionId), all);
  return all;
}

/** The duration that the engine measured. The way through this page is not part of it. */
export function measuredMs(headers: Headers, tookMs: number): number {
  const measured = Number(headers.get(INVOKE_HEADERS.durationMs) ?? Number.NaN);
  return Number.isFinite(measured) ? measured : tookMs;
}

export function traceOf(headers: Headers): string | undefined {
  return headers.get(INVOKE_HEADERS.traceId) ?? undefined;
}
