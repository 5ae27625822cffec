// Binary frames with a four-letter prefix carry OTLP telemetry of workers (wire 1.11). They are passed on as they came:
// the telemetry thread reads them. While nothing is observed they are counted and dropped.

import type { TelemetryKind } from '../../core/telemetry/records/intake.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';

/** What receives the report: the router's context, or the port of modules. */
export interface TelemetryTaker {
  readonly observer: Collector | undefined;
  /** Something was dropped. */
  count(name: string, reason: string): void;
}

const PREFIX_BYTES = 4;

/** Takes the frame if it is telemetry. `source`: its connection. */
export function takeTelemetry(taker: TelemetryTaker, source: number, bytes: Uint8Array): boolean {
  const kind = kindOf(bytes);
  if (kind === undefined) return false;
  if (taker.observer === undefined) taker.count('telemetry.dropped', 'observability_off');
  else taker.observer.frame(kind, source, bytes.subarray(PREFIX_BYTES));
  return true;
}

/** Checked for every binary frame: the first byte rules out nearly all others. */
export function mayBeTelemetry(bytes: Uint8Array): boolean {
  const first = bytes[0];
  return first === LETTER_O || first === LETTER_M || first === LETTER_L;
}

function kindOf(bytes: Uint8Array): TelemetryKind | undefined {
  if (!mayBeTelemetry(bytes)) return undefined;
  const prefix = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PREFIX_BYTES)).toString('latin1');
  return prefix === 'OTLP' || prefix === 'MTRC' || prefix === 'LOGS' ? prefix : undefined;
}

const LETTER_O = 0x4f;
const LETTER_M = 0x4d;
const LETTER_L = 0x4c;
