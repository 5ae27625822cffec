// The kinds of triggers as users know them: the engine has several trigger types for some of them (TRG-1). The config
// of a trigger in words (TRG-6), and the page where a change fires it.

import type { TriggerTypeRow } from '../../../../api/registry.ts';

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

export interface KindSummary {
  readonly kind: Kind;
  readonly count: number;
  /** Why no trigger of this kind can be bound; undefined where one can. */
  readonly missing: string | undefined;
}

/**
 * Undefined: not known yet. A kind is available when one of its types is. `other` is shown only where a worker
 * registered a type of its own.
 */
export function kindSummaries(known: readonly TriggerTypeRow[] | undefined): KindSummary[] {
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

export type TriggerConfig = Readonly<Record<string, unknown>>;

export function configOf(config: unknown): TriggerConfig {
  return typeof config === 'object' && config !== null && !Array.isArray(config) ? { ...config } : {};
}

export function textIn(config: TriggerConfig, name: string): string | undefined {
  const value = config[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Its condition, which is called before the function (TRG-7). */
export function conditionIn(config: TriggerConfig): string | undefined {
  return textIn(config, 'condition_function_id');
}

export function topicIn(config: TriggerConfig): string {
  return textIn(config, 'topic') ?? textIn(config, 'name') ?? textIn(config, 'queue') ?? '';
}

export function filterInWords(type: string, config: TriggerConfig): string {
  const say = (name: string): string | undefined => {
    const value = textIn(config, name);
    return value === undefined ? undefined : `“${value}”`;
  };
  switch (kindOf(type)) {
    case 'state': {
      const [scope, key] = [say('scope'), say('key')];
      if (scope !== undefined && key !== undefined) return `When the key ${key} of the scope ${scope} changes`;
      if (scope !== undefined) return `When any key of the scope ${scope} changes`;
      return key === undefined ? 'When any entry of the state changes' : `When the key ${key} of any scope changes`;
    }
    case 'stream':
      return streamInWords(type, config, say);
    case 'log': {
      const level = textIn(config, 'level');
      if (level === undefined || level.toLowerCase() === 'all') return 'For every log record';
      return `For every log record of exactly the level ${level.toUpperCase()}`;
    }
    case 'event': {
      const topic = topicIn(config);
      if (!topic.includes('*')) return `When the event “${topic}” is published`;
      return `When an event is published whose name matches “${topic}”; * stands for any characters`;
    }
    case 'queue':
      return `For every message on the topic “${topicIn(config)}”`;
    default:
      return '';
  }
}

function streamInWords(type: string, config: TriggerConfig, say: (name: string) => string | undefined): string {
  const stream = say('stream_name');
  const where = stream === undefined ? 'of any stream' : `of the stream ${stream}`;
  if (type !== 'stream') {
    return `When a client ${type.endsWith('join') ? 'joins' : 'leaves'} a group ${where}`;
  }
  const [group, item] = [say('group_id'), say('item_id')];
  const what = item === undefined ? 'any item' : `the item ${item}`;
  const inside = group === undefined ? '' : ` in the group ${group}`;
  const events = config.include_events === true ? ', or a custom event is sent' : '';
  return `When ${what}${inside} ${where} is created, updated or deleted${events}`;
}

/** The page on which a user makes the change. */
export function pageOfChange(
  type: string,
  config: TriggerConfig,
): { readonly to: string; readonly search: Readonly<Record<string, string>>; readonly label: string } | undefined {
  switch (kindOf(type)) {
    case 'state': {
      const scope = textIn(config, 'scope');
      return { to: '/states', search: scope === undefined ? {} : { scope }, label: 'Change it in States' };
    }
    case 'stream': {
      const stream = textIn(config, 'stream_name');
      return { to: '/streams', search: stream === undefined ? {} : { stream }, label: 'Change it in Streams' };
    }
    case 'log':
      return { to: '/logs', search: {}, label: 'See the records in Logs' };
    case 'queue':
      return { to: '/queues', search: { q: topicIn(config) }, label: 'Open it in Queues' };
    default:
      return undefined;
  }
}
