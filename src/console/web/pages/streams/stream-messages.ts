// The messages of streams as the monitor shows them (STR-1, STR-2, STR-4, STR-5). Pure: the caller has the ring and the
// clock.

import type { StreamTap } from '../../../api/live.ts';

export interface MonitorMessage {
  readonly kind: 'message';
  /** Its number in the buffer. */
  readonly id: string;
  readonly tap: StreamTap;
  /** How many numbers of the group's sequence are missing before it. */
  readonly missed: number;
}

export type MonitorLine =
  | MonitorMessage
  | { readonly kind: 'gap'; readonly id: string; readonly dropped: number | undefined }
  /**
   * A stream that is too fast to read: how many messages the row stands for, and which are listed when it is opened.
   */
  | {
      readonly kind: 'fast';
      readonly id: string;
      readonly stream: string;
      readonly count: number;
      readonly open: boolean;
    };

export interface MonitorFilter {
  readonly direction: 'all' | 'inbound' | 'outbound';
  /** `stream` or `stream/group`; an empty list means all. */
  readonly subs: readonly string[];
  readonly q: string;
}

export function isMeant(tap: StreamTap, { direction, subs, q }: MonitorFilter): boolean {
  if (direction !== 'all' && tap.direction !== direction) return false;
  const place = `${tap.stream}/${tap.group}`;
  if (subs.length > 0 && !subs.some((sub) => sub === tap.stream || sub === place)) return false;
  if (q === '') return true;
  const text = `${place} ${tap.item ?? ''} ${tap.event} ${previewOf(tap)}`;
  return text.toLowerCase().includes(q.toLowerCase());
}

export function previewOf({ payload }: Pick<StreamTap, 'payload'>): string {
  return payload === undefined ? '' : (JSON.stringify(payload) ?? '');
}

/** The subject of the message, for a list. Its stream, time and kind have columns of their own. */
export function contentOf({ payload }: Pick<StreamTap, 'payload'>): string {
  const event = memberOf(payload, 'event');
  const data = memberOf(event, 'data') ?? memberOf(payload, 'data');
  return JSON.stringify(data ?? payload) ?? '';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

export const FAST_PER_S = 200;
const RATE_MS = 1_000;

/** For each stream, its messages in the last second before the newest one. */
export function ratesOf(taps: readonly StreamTap[]): ReadonlyMap<string, number> {
  const rates = new Map<string, number>();
  const newest = taps.at(-1)?.at ?? 0;
  for (let at = taps.length - 1; at >= 0; at--) {
    const tap = taps[at];
    if (tap === undefined || newest - tap.at >= RATE_MS) break;
    rates.set(tap.stream, (rates.get(tap.stream) ?? 0) + 1);
  }
  return rates;
}

/**
 * How many numbers of a group's sequence are missing before each message, oldest first. Only sent messages have a
 * sequence number. A new epoch, or a lower number, starts the count again.
 */
export function missedBefore(taps: readonly StreamTap[]): number[] {
  const last = new Map<string, { readonly seq: number; readonly epoch: string | null }>();
  return taps.map((tap) => {
    if (tap.seq === null || tap.direction !== 'outbound') return 0;
    const place = `${tap.stream}\n${tap.group}`;
    const before = last.get(place);
    last.set(place, { seq: tap.seq, epoch: tap.epoch });
    return before === undefined || before.epoch !== tap.epoch ? 0 : Math.max(0, tap.seq - before.seq - 1);
  });
}

/** Newest first. The messages of a fast stream are folded into one row, unless that is opened. */
export function foldFast(
  lines: readonly MonitorLine[],
  fast: ReadonlySet<string>,
  opened: ReadonlySet<string>,
): MonitorLine[] {
  if (fast.size === 0) return [...lines];
  const counts = new Map<string, number>();
  for (const line of lines) {
    if (line.kind !== 'message' || !fast.has(line.tap.stream)) continue;
    counts.set(line.tap.stream, (counts.get(line.tap.stream) ?? 0) + 1);
  }
  const headed = new Set<string>();
  return lines.flatMap((line) => {
    if (line.kind !== 'message' || !fast.has(line.tap.stream)) return [line];
    const { stream } = line.tap;
    const open = opened.has(stream);
    if (headed.has(stream)) return open ? [line] : [];
    headed.add(stream);
    const head: MonitorLine = { kind: 'fast', id: `fast ${stream}`, stream, count: counts.get(stream) ?? 0, open };
    return open ? [head, line] : [head];
  });
}

/** The previous content of the same item, for a difference. `taps` are oldest first, up to the message itself. */
export function previousOfItem(taps: readonly StreamTap[], tap: StreamTap): StreamTap | undefined {
  const at = taps.indexOf(tap);
  if (tap.item === null || at < 0) return undefined;
  return taps
    .slice(0, at)
    .findLast(
      (one) =>
        one.stream === tap.stream &&
        one.group === tap.group &&
        one.item === tap.item &&
        one.direction === tap.direction &&
        one.payload !== undefined,
    );
}
