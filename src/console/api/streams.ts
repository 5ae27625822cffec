// Streams, their groups, items and subscribers.

import type { ListQuery } from './envelope.ts';
import type { StateRow, UpdateError } from './states.ts';

export interface StreamRow {
  name: string;
  groups: number;
  /** Three at most. */
  first_groups: string[];
  type: 'user' | 'system';
  subscribers: number;
}

export interface StreamsQuery extends ListQuery {
  q?: string;
  system?: boolean;
}

export interface StreamGroupRow {
  group: string;
  subscribers: number;
}

export interface StreamItemRow extends Omit<StateRow, 'key' | 'version' | 'updated_at'> {
  id: string;
}

export interface StreamItem {
  stream: string;
  group: string;
  id: string;
  data: unknown;
  size: number;
}

export interface StreamSubscriberRow {
  id: string;
  address: string | null;
  since: number;
  buffered_bytes: number;
  item: string | null;
}

export interface StreamPut {
  data: unknown;
}

export interface StreamChanged {
  old_value: unknown;
  new_value: unknown;
  errors?: UpdateError[];
}

export interface StreamSendRequest {
  stream_name: string;
  group_id: string;
  type: string;
  data: unknown;
  id?: string;
}
