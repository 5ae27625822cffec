// `engine::reservations::…`: the names that belong to trusted workers, and how one is released to restricted
// connections.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { validateReservation, validateReservationsList } from '../../generated/module-payloads.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';

const LIST_MAX = 1_000;

export function reservationsList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::reservations::list';
  return {
    id,
    description: 'Lists the names that only trusted workers may use',
    handle(payload, call) {
      assertTrusted(id, call);
      const { kind, search, offset, limit } = readPayload(id, validateReservationsList, payload);
      const found = [...router.reservations.all()].filter(
        (one) => (kind == null || one.kind === kind) && (search == null || one.name.includes(search)),
      );
      const start = Math.max(0, Math.trunc(offset ?? 0));
      const count = Math.min(LIST_MAX, Math.max(1, Math.trunc(limit ?? LIST_MAX)));
      return { reservations: found.slice(start, start + count), total: found.length };
    },
  };
}

export function reservationsRelease(router: RouterPort): BuiltinDefinition {
  const id = 'engine::reservations::release';
  return {
    id,
    description: 'Lets connections of ports with rbac use a name that a trusted worker used before',
    handle(payload, call) {
      assertTrusted(id, call);
      const { kind, name } = readPayload(id, validateReservation, payload);
      if (!router.reservations.release(kind, name))
        throw new Refusal('NOT_FOUND', `The ${kind} ${name} is not reserved`);
      return { success: true };
    },
  };
}
