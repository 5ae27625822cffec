// Who has an id of a trigger or a trigger type, of two connections that registered it on different engines or routers.
// Every one of them applies this rule to what it hears, so no two come to different results.

import { isSamePrefix } from '../access/access.ts';
import type { RestrictedProvider } from './trigger-table.ts';

export interface Rival {
  /** Among all registrations: a higher one is newer. `undefined`: newer than those that have one. */
  readonly order: number | undefined;
  /** `undefined`: a trusted connection. */
  readonly restricted?: RestrictedProvider | undefined;
}

/** The newer one has it. A restricted connection takes it only from one to which the same prefix was granted. */
export function hasPrecedence(one: Rival, other: Rival): boolean {
  const isNewer = (one.order ?? Number.POSITIVE_INFINITY) > (other.order ?? Number.POSITIVE_INFINITY);
  if (one.restricted === undefined) return other.restricted !== undefined || isNewer;
  if (other.restricted === undefined) return false;
  return isSamePrefix(one.restricted.prefix, other.restricted.prefix) ? isNewer : !isNewer;
}
