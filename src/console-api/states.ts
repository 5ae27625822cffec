// Entries of the state store.

import type { ListQuery } from './envelope.ts';
import type { JsonType } from './values.ts';

export interface ScopeRow {
  scope: string;
  /** `null` where counting is not cheap. */
  count: number | null;
  /** Of the console or the engine: hidden unless asked for. */
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
  /** Milliseconds; `null`: written before that was kept. */
  updated_at: number | null;
}

/** In the order of keys; `order: desc` is not offered. */
export interface StateItemsQuery extends ListQuery {
  prefix?: string;
  /** Part of the key. */
  q?: string;
}

export interface StateItem {
  scope: string;
  key: string;
  /** The text is the stored one, number for number. */
  value: unknown;
  type: JsonType;
  size: number;
  /** Opaque tag of the stored bytes. */
  version: string;
}

export interface StatePut {
  value: unknown;
  /** Refused with 409 `CONFLICT` unless the entry still has this version. */
  if_version?: string;
  /** Refused with 409 `CONFLICT` if there is an entry. */
  if_absent?: boolean;
}

export interface StateUpdateRequest {
  ops: unknown[];
  /** Nothing is written: the answer says what would be. */
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
