// The list of all pages, one line each, in the order of the navigation. `key` is the letter after `g` (KEY-1).

import {
  Activity,
  Boxes,
  Database,
  FunctionSquare,
  Inbox,
  LayoutDashboard,
  type LucideIcon,
  Radio,
  ScrollText,
  Settings,
  Workflow,
  Zap,
} from 'lucide-react';
import type { ComponentType } from 'react';

export interface PageEntry {
  /** Also matches paths below it, where the page allows that. */
  readonly path: string;
  readonly name: string;
  readonly key: string;
  readonly icon: LucideIcon;
  /** The page takes one more part of the path: `/traces/<id>`. */
  readonly below?: true;
  /** Only where the server was started with it. */
  readonly needs?: 'flow';
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const PAGES: readonly PageEntry[] = [
  { path: '/', name: 'Dashboard', key: 'd', icon: LayoutDashboard, load: () => import('./dashboard/index.tsx') },
  {
    path: '/functions',
    name: 'Functions',
    key: 'f',
    icon: FunctionSquare,
    load: () => import('./functions/index.tsx'),
  },
  { path: '/triggers', name: 'Triggers', key: 't', icon: Zap, load: () => import('./triggers/index.tsx') },
  { path: '/queues', name: 'Queues', key: 'q', icon: Inbox, load: () => import('./queues/index.tsx') },
  { path: '/states', name: 'States', key: 's', icon: Database, load: () => import('./states/index.tsx') },
  { path: '/streams', name: 'Streams', key: 'm', icon: Radio, load: () => import('./streams/index.tsx') },
  {
    path: '/traces',
    name: 'Traces',
    key: 'r',
    icon: Activity,
    below: true,
    load: () => import('./traces/index.tsx'),
  },
  { path: '/logs', name: 'Logs', key: 'l', icon: ScrollText, load: () => import('./logs/index.tsx') },
  { path: '/flow', name: 'Flow', key: 'w', icon: Workflow, needs: 'flow', load: () => import('./flow/index.tsx') },
  { path: '/workers', name: 'Workers', key: 'o', icon: Boxes, load: () => import('./workers/index.tsx') },
  { path: '/config', name: 'Config', key: 'c', icon: Settings, load: () => import('./config/index.tsx') },
];
