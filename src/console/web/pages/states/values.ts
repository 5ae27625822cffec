// Entries of the state store with their values as they are stored, digit by digit.

import { useQuery } from '@tanstack/react-query';
import type { StateItem } from '../../../../console-api/states.ts';
import { ApiError, callText } from '../../data/api.ts';
import { nestedSource, takeMember } from '../../kit/json/logic/json-member.ts';

export interface StoredItem {
  readonly facts: Omit<StateItem, 'value'>;
  readonly text: string;
}

export async function readItem(scope: string, key: string, signal?: AbortSignal): Promise<StoredItem> {
  const { text } = await callText('GET /states/{scope}/items/{key}', {
    parts: { scope, key },
    ...(signal !== undefined && { signal }),
  });
  return storedOf(text);
}

export function storedOf(text: string): StoredItem {
  const { source = 'null', rest } = takeMember(text, 'value');
  const { value: _value, ...facts }: StateItem = JSON.parse(rest);
  return { facts, text: source };
}

export type SaveCondition = { readonly if_version: string } | { readonly if_absent: true } | undefined;

export async function writeItem(
  scope: string,
  key: string,
  valueText: string,
  condition: SaveCondition,
): Promise<StoredItem> {
  const rest = condition === undefined ? '' : `,${JSON.stringify(condition).slice(1, -1)}`;
  const { text } = await callText('PUT /states/{scope}/items/{key}', {
    parts: { scope, key },
    text: `{"value":${valueText}${rest}}`,
  });
  return storedOf(text);
}

/** The current entry, from a refused save. Undefined for every other failure, `null` when it was deleted. */
export function conflictOf(error: unknown): { readonly current: StoredItem | null } | undefined {
  if (!(error instanceof ApiError) || error.code !== 'CONFLICT') return undefined;
  const current = nestedSource(error.exchange.responseText, ['error', 'details', 'current']);
  return { current: current === undefined || current === 'null' ? null : storedOf(current) };
}

export function useItem(scope: string, key: string) {
  return useQuery({
    queryKey: ['state', scope, key],
    queryFn: ({ signal }) => readItem(scope, key, signal),
  });
}
