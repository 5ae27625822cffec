// What the palette can find, and its actions. It is read when the palette opens, but not from modules that are not
// loaded.

import { useQuery } from '@tanstack/react-query';
import { call } from '../data/api.ts';
import { preferences, setPreference } from '../data/preferences.ts';
import { copyText } from '../kit/inputs/copy.tsx';
import { PAGES } from '../pages/list.ts';
import { bindings } from './keys.ts';
import { bestMatches, receiptIn, traceIdIn } from './palette-match.ts';

export interface Action {
  readonly name: string;
  readonly note?: string;
  readonly run: () => void;
}

export function pastedAction(
  text: string,
  go: (to: string, search?: Record<string, string>) => void,
): Action | undefined {
  const traceId = traceIdIn(text);
  if (traceId !== undefined) return { name: `Open trace ${traceId}`, run: () => go(`/traces/${traceId}`) };
  const receipt = receiptIn(text);
  if (receipt !== undefined) return { name: `Open job ${receipt}`, run: () => go('/queues', { id: receipt }) };
  return undefined;
}

/** The page's keys that do not move through a list, and a few actions that every page has. */
export function pageActions(): readonly Action[] {
  const own = bindings
    .get()
    .filter(({ keys }) => keys.every((key) => /^[a-z]$/.test(key) && !'jkx'.includes(key)))
    .map(({ keys, name, run }) => ({ name, note: keys[0] ?? '', run: () => run(new KeyboardEvent('keydown')) }));
  const { theme } = preferences.get();
  return [
    ...own,
    { name: 'Toggle theme', run: () => setPreference('theme', theme === 'dark' ? 'light' : 'dark') },
    { name: 'Copy link', run: () => void copyText(location.href, 'link') },
    ...(['relative', 'local', 'utc'] as const).map((time) => ({
      name: `Show times ${time === 'utc' ? 'in UTC' : time}`,
      run: () => setPreference('time', time),
    })),
  ];
}

export interface PaletteItem {
  readonly key: string;
  readonly name: string;
  /** Shown after the name. */
  readonly note?: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

export interface PaletteGroup {
  readonly title: string;
  readonly items: readonly PaletteItem[];
}

/** Up to this many functions are searched here. Above it, the engine is asked at every keystroke. */
const LOCAL_MAX = 1_000;
const SHOWN = 6;

export function usePaletteGroups(text: string): readonly PaletteGroup[] {
  const wanted = text.trim().toLowerCase();
  const functions = useFunctions(wanted);
  const lists = useLists();
  const all: readonly PaletteGroup[] = [{ title: 'Pages', items: PAGE_ITEMS }, functions, ...lists];
  return all
    .map(({ title, items }) => ({
      title,
      items: bestMatches(items, ({ name }) => name, wanted, limitOf(title, wanted)),
    }))
    .filter(({ items }) => items.length > 0);
}

/** Without text the palette lists the pages and a few entries of each other kind. */
function limitOf(title: string, wanted: string): number {
  return title === 'Pages' ? PAGES.length : wanted === '' ? 3 : SHOWN;
}

const PAGE_ITEMS: readonly PaletteItem[] = PAGES.map(({ name, path, key }) => ({
  key: `page ${path}`,
  name,
  note: `g ${key}`,
  to: path,
}));

function useFunctions(wanted: string): PaletteGroup {
  const read = (q: string, signal: AbortSignal) => call('GET /functions', { query: { q, limit: LOCAL_MAX }, signal });
  const first = useQuery({ queryKey: ['palette', 'functions'], queryFn: ({ signal }) => read('', signal) });
  const isLocal = first.data?.next_cursor === null;
  const asked = useQuery({
    queryKey: ['palette', 'functions', wanted],
    queryFn: ({ signal }) => read(wanted, signal),
    enabled: !isLocal && wanted !== '',
    placeholderData: (previous) => previous,
  });
  const rows = (isLocal || wanted === '' ? first : asked).data?.items ?? [];
  return {
    title: 'Functions',
    items: rows.map(({ function_id, worker_name }) => ({
      key: `function ${function_id}`,
      name: function_id,
      note: worker_name,
      to: '/functions',
      search: { id: function_id },
    })),
  };
}

function useLists(): readonly PaletteGroup[] {
  const { data } = useQuery({ queryKey: ['palette', 'lists'], queryFn: ({ signal }) => readLists(signal) });
  return data ?? [];
}

async function readLists(signal: AbortSignal): Promise<PaletteGroup[]> {
  const query = { limit: LOCAL_MAX };
  const { modules, telemetry } = await call('GET /status', { signal });
  const has = (name: string): boolean => modules.some((module) => module.name === name);
  const none = { items: [] };
  const [triggers, workers, queues, scopes, streams, traces] = await Promise.all([
    call('GET /triggers', { query, signal }),
    call('GET /workers', { query, signal }),
    has('svc-queue') ? call('GET /queues', { query, signal }) : none,
    has('svc-state') ? call('GET /states/scopes', { query, signal }) : none,
    has('svc-stream') ? call('GET /streams', { query, signal }) : none,
    telemetry.traces ? call('POST /traces/search', { body: { limit: SHOWN }, signal }) : none,
  ]);
  return [
    {
      title: 'Triggers',
      items: triggers.items.map(({ id, trigger_type, config_summary, function_id }) => ({
        key: `trigger ${id}`,
        name: `${trigger_type} ${config_summary}`,
        note: function_id,
        to: '/triggers',
        search: { id },
      })),
    },
    {
      title: 'Queues',
      items: queues.items.map(({ name }) => ({ key: `queue ${name}`, name, to: '/queues', search: { queue: name } })),
    },
    {
      title: 'States',
      items: scopes.items.map(({ scope }) => ({
        key: `scope ${scope}`,
        name: scope,
        to: '/states',
        search: { scope },
      })),
    },
    {
      title: 'Streams',
      items: streams.items.map(({ name }) => ({ key: `stream ${name}`, name, to: '/streams', search: { sub: name } })),
    },
    {
      title: 'Workers',
      items: workers.items.map(({ id, name }) => ({ key: `worker ${id}`, name, to: '/workers', search: { id } })),
    },
    {
      title: 'Recent traces',
      items: traces.items.map(({ trace_id, name }) => ({
        key: trace_id,
        name,
        note: trace_id.slice(0, 8),
        to: `/traces/${trace_id}`,
      })),
    },
  ];
}
