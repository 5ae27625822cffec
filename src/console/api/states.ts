// Entries of the state store.

import type { JsonType, ListQuery } from './envelope.ts';

export interface ScopeRow {
  scope: string;
  /** `null` where counting is expensive. */
  count: number | null;
  /** A scope of the console or the engine: hidden unless asked for. */
  internal: boolean;
}

export interface ScopesQuery extends ListQuery {
  q?: string;
}

export interface StateRow {
  key: string;
  type: JsonType;
  size: number;
  /** At most 256 bytes of the JSON text. */
  preview: string;
  truncated: boolean;
  version: string;
  /** Milliseconds. `null`: written before the store kept times. */
  updated_at: number | null;
}

/** In the order of keys. `order: desc` is not available. */
export interface StateItemsQuery extends ListQuery {
  prefix?: string;
  /** A part of the key. */
  q?: string;
}

export interface StateItem {
  scope: string;
  key: string;
  /** The text is the stored one, with its numbers unchanged. */
  value: unknown;
  type: JsonType;
  size: number;
  /** Opaque tag of the stored bytes. */
  version: string;
}

export interface StatePut {
  value: unknown;
  /** The write is refused with 409 `CONFLICT` unless the entry still has this version. */
  if_version?: string;
  /** The write is refused with 409 `CONFLICT` if there is an entry. */
  if_absent?: boolean;
}

export interface StateUpdateRequest {
  ops: unknown[];
  /** Nothing is written: the answer shows the result of the update. */
  dry_run?: boolean;
}

export interface UpdateError {
  op_index: number;
  code: string;
  message: string;
  doc_url?: string;
}

export interface StateUpdated {
  old_value: unknown;
  new_value: unknown;
  errors: UpdateError[];
  version: string | null;
}
