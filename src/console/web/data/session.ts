// The token of this tab (APP-4): kept in session storage, sent in a header or in the first live frame, never in an
// address.

import { createStore } from './store.ts';

const STORAGE_KEY = 'svc.token';

export interface Session {
  readonly token: string | undefined;
  /** Set while the server refuses the token. */
  readonly wanted: boolean;
}

export const session = createStore<Session>({ token: readToken(), wanted: false });

export function setToken(token: string): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, token);
  } catch {
    // It holds until the tab is left.
  }
  session.set({ token, wanted: false });
}

export function tokenRefused(): void {
  if (!session.get().wanted) session.set({ ...session.get(), wanted: true });
}

function readToken(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
