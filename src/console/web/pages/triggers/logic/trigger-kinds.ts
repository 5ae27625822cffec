// The kinds of triggers as users know them: the engine has several trigger types for some of them (TRG-1).

import type { TriggerTypeRow } from '../../../../../console-api/registry.ts';

export const KINDS = ['all', 'http', 'cron', 'queue', 'event', 'state', 'stream', 'log', 'other'] as const;
export type Kind = (typeof KINDS)[number];

const TYPES: Readonly<Record<Exclude<Kind, 'all' | 'other'>, readonly string[]>> = {
  http: ['http'],
  cron: ['cron'],
  queue: ['durable:subscriber', 'queue'],
  event: ['event', 'subscribe'],
  state: ['state'],
  stream: ['stream', 'stream:join', 'stream:leave'],
  log: ['log'],
};

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  all: 'All',
  http: 'HTTP',
  cron: 'Cron',
  queue: 'Queue',
  event: 'Event',
  state: 'State',
  stream: 'Stream',
  log: 'Log',
  other: 'Other',
};

export function kindOf(type: string): Exclude<Kind, 'all'> {
  for (const [kind, types] of Object.entries(TYPES)) {
    if (types.includes(type)) return kind as Exclude<Kind, 'all' | 'other'>;
  }
  return 'other';
}

export interface KindFacts {
  readonly kind: Kind;
  readonly count: number;
  /** Why no trigger of this kind can be bound; undefined where one can. */
  readonly missing: string | undefined;
}

/**
 * Undefined: not known yet. A kind is available when one of its types is. `other` is shown only where a worker
 * registered a type of its own.
 */
export function kindFacts(known: readonly TriggerTypeRow[] | undefined): KindFacts[] {
  const types = known ?? [];
  return KINDS.flatMap((kind) => {
    const own = kind === 'all' ? types : types.filter(({ id }) => kindOf(id) === kind);
    const count = own.reduce((sum, type) => sum + type.count, 0);
    if (kind === 'other' && count === 0) return [];
    const isThere = known === undefined || kind === 'all' || own.some(({ available }) => available);
    const reason = own.find((type) => type.reason !== null)?.reason ?? 'No module provides it';
    return [{ kind, count, missing: isThere ? undefined : reason }];
  });
}

/** The filter of the list: types separated by commas. */
export function typesOf(kind: Kind, types: readonly TriggerTypeRow[]): string {
  if (kind === 'all') return '';
  if (kind !== 'other') return TYPES[kind].join(',');
  return types
    .filter(({ id }) => kindOf(id) === 'other')
    .map(({ id }) => id)
    .join(',');
}
