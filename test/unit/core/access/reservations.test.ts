// The table of names that belong to trusted workers.

import { describe, expect, test } from 'vitest';
import { type ReservationChange, Reservations } from '../../../../src/core/access/reservations.ts';

function tableOf(max: number): { table: Reservations; changes: ReservationChange[] } {
  const table = new Reservations(max);
  const changes: ReservationChange[] = [];
  table.onChange((change) => changes.push(change));
  return { table, changes };
}

describe('reserved names', () => {
  test('a name is reserved for one kind, until it is released', () => {
    const { table } = tableOf(10);
    table.reserve('function', 'a');
    expect([table.has('function', 'a'), table.has('route', 'a')]).toEqual([true, false]);
    expect([table.release('function', 'a'), table.release('function', 'a')]).toEqual([true, false]);
    expect(table.has('function', 'a')).toBe(false);
  });

  test('a name that is used again is reported once', () => {
    const { table, changes } = tableOf(10);
    for (let again = 0; again < 3; again++) table.reserve('route', 'GET /a');
    expect(changes).toEqual([{ kind: 'route', name: 'GET /a', isReserved: true }]);
  });

  test('a full table forgets the least recently used name and reports it', () => {
    const { table, changes } = tableOf(2);
    for (const name of ['a', 'b', 'a']) table.reserve('function', name);
    expect(table.reserve('function', 'c')).toEqual({ kind: 'function', name: 'b' });
    expect([...table.all()].map(({ name }) => name)).toEqual(['a', 'c']);
    expect(changes.at(-1)).toEqual({ kind: 'function', name: 'b', isReserved: false });
  });
});
