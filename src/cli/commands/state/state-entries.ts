// Shared by the state commands: an entry looked up, and the failure when it does not exist.

import { nearestWords } from '../../../core/config-fields/nearest.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';

/** Number of names compared for a suggestion; a scope may hold millions. */
const CANDIDATES_MAX = 1_000;
const SUGGESTIONS_MAX = 3;

export interface FoundEntry {
  readonly value: unknown;
}

/** The entry, if it exists. A stored null is an entry. */
export async function findEntry(
  { state }: EngineConnection,
  scope: string,
  key: string,
): Promise<FoundEntry | undefined> {
  const value: unknown = await state.get(scope, key);
  if (value !== null) return { value };
  // The engine answers null for a stored null and for a missing entry. In key order, the key comes before all longer
  // keys that begin with it.
  for await (const first of state.list(scope, { prefix: key, page_size: 1 })) {
    return first.key === key ? { value: first.value } : undefined;
  }
  return undefined;
}

/** The value of the entry; throws when it does not exist. */
export async function readEntry(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  return entry.value;
}

/** The failure for a key that does not exist, with suggestions (CLI-8). */
export async function absentKey({ address, state }: EngineConnection, scope: string, key: string): Promise<CliFailure> {
  const keys = await firstOf(state.list(scope, { page_size: CANDIDATES_MAX }));
  const [what, word, names] =
    keys.length > 0
      ? (['key', key, keys.map((entry) => entry.key)] as const)
      : (['scope', scope, await firstOf(state.scopes({ page_size: CANDIDATES_MAX }))] as const);
  const suggestions = nearestWords(word, names).slice(0, SUGGESTIONS_MAX);
  return new CliFailure({
    code: 'NOT_FOUND',
    message:
      what === 'key'
        ? `There is no key '${key}' in the scope '${scope}' (engine at ${address}).`
        : `There is no scope '${scope}' (engine at ${address}).`,
    exitCode: EXIT.notFound,
    hint:
      suggestions.length > 0
        ? `Did you mean: ${suggestions.join(', ')}?`
        : what === 'key'
          ? `List its keys with: svc state list ${scope} --keys`
          : 'List the scopes with: svc state scopes',
    details: { scope, key, suggestions },
  });
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const first: T[] = [];
  for await (const item of items) {
    if (first.push(item) === CANDIDATES_MAX) break;
  }
  return first;
}
