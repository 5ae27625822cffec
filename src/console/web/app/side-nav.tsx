// The navigation: next to the page where there is room, otherwise opened by a button above it (APP-13). It shows counts
// that are cheap, and recent trouble (APP-6).

import { Link } from '@tanstack/react-router';
import { Clock, Keyboard, Menu as MenuIcon, Monitor, Moon, PanelLeft, Search, Sun, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { connection, useConsoleInfo } from '../data/connection.ts';
import { useCounters } from '../data/counters.ts';
import { preferences, setPreference } from '../data/preferences.ts';
import { useStore } from '../data/store.ts';
import { keepRange } from '../data/time-range.ts';
import { formatCount } from '../kit/charts/times.ts';
import { Badge, Shape } from '../kit/feedback/status.tsx';
import { IconButton } from '../kit/inputs/button.tsx';
import { classes } from '../kit/layout/classes.ts';
import { PAGES, type PageEntry } from '../pages/list.ts';

export interface NavProps {
  readonly openPalette: () => void;
  readonly openKeyList: () => void;
}

export function SideNav(props: NavProps): ReactNode {
  const { navClosed } = useStore(preferences);
  return (
    <nav
      aria-label="Pages"
      className={classes(
        'flex h-full shrink-0 flex-col border-r border-line bg-panel',
        navClosed ? 'w-12' : 'w-[208px]',
      )}
    >
      <div className={classes('flex h-12 shrink-0 items-center gap-2', navClosed ? 'justify-center' : 'pr-2 pl-4')}>
        {!navClosed && <Brand />}
        <IconButton
          label={navClosed ? 'Widen the navigation' : 'Narrow the navigation'}
          aria-expanded={!navClosed}
          onClick={() => setPreference('navClosed', !navClosed)}
        >
          <PanelLeft size={15} />
        </IconButton>
      </div>
      <SearchButton narrow={navClosed} open={props.openPalette} />
      <NavList narrow={navClosed} />
      <NavFoot narrow={navClosed} {...props} />
    </nav>
  );
}

export function TopNav(props: NavProps): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-panel px-2">
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger asChild>
          <IconButton label="Pages" className="size-9">
            <MenuIcon size={18} />
          </IconButton>
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-30 bg-ground/70" />
          <Dialog.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 left-0 z-40 flex w-64 flex-col border-r border-line bg-panel shadow-float"
          >
            <div className="flex h-12 items-center pr-2 pl-4">
              <Brand />
              <Dialog.Title className="sr-only">Pages</Dialog.Title>
              <Dialog.Close asChild>
                <IconButton label="Close">
                  <X size={16} />
                </IconButton>
              </Dialog.Close>
            </div>
            <nav aria-label="Pages" className="flex min-h-0 flex-1 flex-col">
              <NavList narrow={false} onGone={() => setOpen(false)} />
              <NavFoot narrow={false} {...props} />
            </nav>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      <Brand />
      <IconButton label="Search and commands" hint="Ctrl K" className="size-9" onClick={props.openPalette}>
        <Search size={17} />
      </IconButton>
    </header>
  );
}

function Brand(): ReactNode {
  const { state } = useStore(connection);
  const info = useConsoleInfo();
  const word = state === 'up' ? 'Connected' : state === 'down' ? 'Disconnected' : 'Connecting';
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2">
      <span className="text-lg font-bold tracking-tight">svc</span>
      <span className="flex min-w-0 items-center gap-1.5 text-sm text-muted" title={`Engine: ${word.toLowerCase()}`}>
        <Shape tone={state === 'up' ? 'good' : state === 'down' ? 'bad' : 'idle'} />
        <span className="truncate">{word}</span>
      </span>
      {info?.read_only === true && <Badge tone="warn">Read-only</Badge>}
    </div>
  );
}

function SearchButton({ narrow, open }: { readonly narrow: boolean; readonly open: () => void }): ReactNode {
  return (
    <div className="px-2 pb-2">
      <button
        type="button"
        aria-label={narrow ? 'Search' : undefined}
        title="Search and commands (Ctrl K)"
        onClick={open}
        className={classes(
          'flex h-8 w-full items-center gap-2 rounded-md border border-line bg-ground text-sm text-faint',
          'hover:border-line-strong',
          narrow ? 'justify-center' : 'px-2',
        )}
      >
        <Search size={14} />
        {!narrow && (
          <>
            <span className="flex-1 text-left">Search</span>
            <kbd aria-hidden className="text-xs">
              Ctrl K
            </kbd>
          </>
        )}
      </button>
    </div>
  );
}

function NavList({ narrow, onGone }: { readonly narrow: boolean; readonly onGone?: () => void }): ReactNode {
  const notes = useNavNotes();
  const info = useConsoleInfo();
  const pages = PAGES.filter(({ needs }) => needs !== 'flow' || info?.flow_enabled === true);
  return (
    <ul className="flex min-h-0 flex-1 flex-col gap-px overflow-y-auto px-2">
      {pages.map((page) => (
        <li key={page.path}>
          <NavLink page={page} narrow={narrow} fact={notes[page.name]} onGone={onGone} />
        </li>
      ))}
    </ul>
  );
}

function NavLink({
  page,
  narrow,
  fact,
  onGone,
}: {
  readonly page: PageEntry;
  readonly narrow: boolean;
  readonly fact: { readonly count?: number | undefined; readonly trouble?: string | undefined } | undefined;
  readonly onGone: (() => void) | undefined;
}): ReactNode {
  const Icon = page.icon;
  return (
    <Link
      to={page.path}
      search={keepRange}
      onClick={onGone}
      title={`${page.name} (g ${page.key})${fact?.trouble === undefined ? '' : `: ${fact.trouble}`}`}
      activeOptions={{ exact: page.path === '/', includeSearch: false }}
      className={classes(
        'relative flex h-8 items-center gap-2.5 rounded-md text-base text-muted hover:bg-hover hover:text-text',
        'aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-text',
        narrow ? 'justify-center' : 'px-2',
      )}
    >
      <Icon size={16} className="shrink-0" />
      <span className={narrow ? 'sr-only' : 'min-w-0 flex-1 truncate'}>{page.name}</span>
      {fact?.trouble !== undefined && (
        <span className={narrow ? 'absolute top-1 right-1' : undefined}>
          <Shape tone="bad" />
          <span className="sr-only">{fact.trouble}</span>
        </span>
      )}
      {!narrow && fact?.count !== undefined && <span className="text-xs text-faint">{formatCount(fact.count)}</span>}
    </Link>
  );
}

const THEMES = { system: 'light', light: 'dark', dark: 'system' } as const;
const TIMES = { relative: 'local', local: 'utc', utc: 'relative' } as const;

function NavFoot({ narrow, openKeyList }: NavProps & { readonly narrow: boolean }): ReactNode {
  const { theme, time } = useStore(preferences);
  const ThemeIcon = theme === 'system' ? Monitor : theme === 'light' ? Sun : Moon;
  return (
    <div className={classes('flex shrink-0 items-center gap-1 border-t border-line p-2', narrow && 'flex-col')}>
      <IconButton label={`Theme: ${theme}`} onClick={() => setPreference('theme', THEMES[theme])}>
        <ThemeIcon size={15} />
      </IconButton>
      <IconButton
        label={`Times: ${time === 'utc' ? 'UTC' : time}`}
        className={narrow ? 'w-7' : 'px-2'}
        onClick={() => setPreference('time', TIMES[time])}
      >
        <Clock size={15} />
        {!narrow && <span className="text-sm">{time === 'utc' ? 'UTC' : time}</span>}
      </IconButton>
      {!narrow && <span className="flex-1" />}
      <IconButton label="Keys" hint="?" onClick={openKeyList}>
        <Keyboard size={15} />
      </IconButton>
    </div>
  );
}

export interface NavNote {
  readonly count?: number | undefined;
  /** In words. Shown as a red mark. */
  readonly trouble?: string | undefined;
}

function useNavNotes(): Readonly<Record<string, NavNote | undefined>> {
  const { latest } = useCounters();
  if (latest === undefined) return {};
  const { functions, triggers, workers, queues, streams, dead_letters, triggers_in_error } = latest;
  return {
    Functions: { count: functions },
    Triggers: { count: triggers, trouble: triggers_in_error > 0 ? `${triggers_in_error} in error` : undefined },
    Queues: {
      count: queues ?? undefined,
      trouble: dead_letters !== null && dead_letters > 0 ? `${dead_letters} dead letters` : undefined,
    },
    Streams: { count: streams ?? undefined },
    Workers: { count: workers },
  };
}
