// Saved views (APP-12): names for addresses of the console, kept in the engine's state store for all of its users.
// Every client that may write state may write one, so the address in it is not trusted.

import { useQuery } from '@tanstack/react-query';
import { call } from './api.ts';
import { queryClient } from './queries.ts';

/** A path below this console with its search. Undefined where the value is anything else. */
function viewAddress(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('address' in value)) return undefined;
  const { address } = value;
  // Two slashes, or a slash and a backslash, begin the name of another host.
  return typeof address === 'string' && /^\/(?![/\\])/.test(address) ? address : undefined;
}

const SCOPE = '__console.views';
const QUERY_KEY = ['views'];

/** Their names, sorted. Undefined while they are not known, and where the engine keeps no state. */
export function useSavedViews(): readonly string[] | undefined {
  const { data } = useQuery({ queryKey: QUERY_KEY, queryFn: ({ signal }) => readNames(signal) });
  return data ?? undefined;
}

async function readNames(signal: AbortSignal): Promise<string[] | null> {
  const { modules } = await call('GET /status', { signal });
  if (!modules.some(({ name }) => name === 'svc-state')) return null;
  const { items } = await call('GET /states/{scope}/items', {
    parts: { scope: SCOPE },
    query: { limit: 1_000 },
    signal,
  });
  return items.map(({ key }) => key);
}

/** The address of the view. */
export async function readView(name: string): Promise<string> {
  const { value } = await call('GET /states/{scope}/items/{key}', { parts: { scope: SCOPE, key: name } });
  const address = viewAddress(value);
  if (address === undefined) throw new Error(`The value stored under ${name} is not an address of this console`);
  return address;
}

/** A name that another user took in the meantime is refused, unless replacing was requested. */
export async function saveView(name: string, address: string, mayReplace: boolean): Promise<void> {
  await call('PUT /states/{scope}/items/{key}', {
    parts: { scope: SCOPE, key: name },
    body: { value: { address }, ...(!mayReplace && { if_absent: true }) },
  });
  await queryClient.invalidateQueries({ queryKey: QUERY_KEY });
}

export async function deleteView(name: string): Promise<void> {
  await call('DELETE /states/{scope}/items/{key}', { parts: { scope: SCOPE, key: name } });
  await queryClient.invalidateQueries({ queryKey: QUERY_KEY });
}
