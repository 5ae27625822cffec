// The contract of tick claims: the same for a local store and for a Redis that engines share.

import { describe, expect, test } from 'vitest';
import type { ClaimOutcome, Tick, TickClaims } from '../../../src/modules/cron/claims.ts';

export interface ClaimsUnderTest {
  readonly name: string;
  /** An engine with claims of its own; then, with the same `place`, another engine on them or a later run of it. */
  create(place: string): TickClaims;
  newPlace(): string;
}

export function claim(claims: TickClaims, ...ticks: readonly Tick[]): Promise<ClaimOutcome> {
  return new Promise((resolve) => claims.claim(ticks, resolve));
}

export function open(claims: TickClaims, trigger: string): Promise<number | undefined> {
  return new Promise((resolve) => claims.open(trigger, resolve));
}

const tick = (trigger: string, second: number): Tick => ({ trigger, atMs: second * 1_000, follows: false });

export function testTickClaims({ name, create, newPlace }: ClaimsUnderTest): void {
  describe(`${name}: claims of ticks`, () => {
    test('[CR1] each tick is won once, by the first engine, and never in a later run', async () => {
      const place = newPlace();
      const [one, two] = [create(place), create(place)];
      await Promise.all([one.start(), two.start()]);
      const ticks = Array.from({ length: 50 }, (_, index) => tick('a', index));
      const outcomes = await Promise.all(ticks.flatMap((each) => [claim(one, each), claim(two, each)]));
      const won = outcomes.filter((outcome) => outcome.ok && outcome.won[0] === true);
      expect(won).toHaveLength(50);
      one.stop();
      const later = create(place);
      await later.start();
      expect(await claim(later, tick('a', 7), tick('b', 7), tick('a', 99))).toEqual({
        ok: true,
        won: [false, true, true],
      });
      for (const claims of [two, later]) claims.stop();
    });

    test('[CR2] a new trigger has no past, a known one has the last tick that was claimed', async () => {
      const claims = create(newPlace());
      await claims.start();
      expect(await open(claims, 'a')).toBeUndefined();
      const nowS = Math.floor(Date.now() / 1_000) + 60;
      await claim(claims, tick('a', nowS));
      expect(await open(claims, 'a')).toBe(nowS * 1_000);
      expect(await open(claims, 'b')).toBeUndefined();
      claims.stop();
    });
  });
}
