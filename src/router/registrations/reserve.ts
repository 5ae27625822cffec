// A trusted connection uses a name: from now on no restricted connection may take it, even while its worker is away.

import type { ReservedKind } from '../../core/access/reservations.ts';
import type { RouterContext } from '../context.ts';

export function reserve(context: RouterContext, kind: ReservedKind, name: string): void {
  const forgotten = context.reservations.reserve(kind, name);
  if (forgotten === undefined) return;
  context.counters.count('reservations.forgotten');
  context.logger.warn(
    'The table of names reserved for trusted workers is full: the name used least recently is open to ports with rbac',
    { kind: forgotten.kind, name: forgotten.name, limit: context.reservations.size },
  );
}
