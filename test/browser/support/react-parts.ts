// Components with the hooks of `svc-browser-sdk/react`. Each shows the result of its hook as JSON. For the page of the
// tests, and for a server that renders it.

import { createElement, type ReactElement, useEffect, useState } from 'react';
import type { SvcWorker } from 'svc-browser-sdk';
import {
  type FunctionCall,
  type StateValue,
  SvcProvider,
  useConnection,
  useFunction,
  useStateValue,
  useStream,
  useSvc,
} from 'svc-browser-sdk/react';

interface Item {
  readonly n: number;
}

/** What tests do to the components, and what they count. */
export const handles: {
  echo?: FunctionCall<unknown, unknown>;
  entry?: StateValue<Item>;
  token?: () => Promise<string>;
} = {};
export const commits: Record<string, number> = {};

function useShown(name: string, value: unknown): ReactElement {
  useEffect(() => {
    commits[name] = (commits[name] ?? 0) + 1;
  });
  return createElement('pre', { id: name }, JSON.stringify(value));
}

function Connection(): ReactElement {
  return useShown('connection', useConnection().state);
}

function Echo(): ReactElement {
  const echo = useFunction<unknown, unknown>('api::answer');
  const { status, data, error } = echo;
  handles.echo = echo;
  return useShown('echo', { status, data, error: error?.message });
}

function Room(): ReactElement {
  const { items, events, status, recovered, error } = useStream<Item>('chat', 'room1', {
    // A new object and a new function every time: neither causes another subscription.
    token: () => handles.token?.() ?? '',
    keep_events: 3,
  });
  const received = events.map(({ data }) => data);
  return useShown('room', { items: [...items], received, status, recovered, error: error?.code });
}

function Entry(): ReactElement {
  const entry = useStateValue<Item>('page', 'counter');
  handles.entry = entry;
  return useShown('entry', { value: entry.value === undefined ? 'unread' : entry.value, error: entry.error?.message });
}

function Notice(): ReactElement {
  const svc = useSvc();
  const [text, setText] = useState('nothing yet');
  useEffect(() => {
    const notify = svc?.registerFunction('ui::notify', (notice: { text: string }) => setText(notice.text));
    return () => notify?.unregister();
  }, [svc]);
  return useShown('notice', text);
}

const PARTS = { connection: Connection, echo: Echo, room: Room, entry: Entry, notice: Notice };

export type PartName = keyof typeof PARTS;

export function Page({
  svc,
  names,
}: {
  readonly svc: SvcWorker | undefined;
  readonly names: readonly PartName[];
}): ReactElement {
  const parts = names.map((name) => createElement(PARTS[name], { key: name }));
  return createElement(SvcProvider, { svc }, parts);
}

export { Connection as WithoutProvider };
