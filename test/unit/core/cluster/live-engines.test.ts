import { describe, expect, test } from 'vitest';
import { LiveEngines, SILENCE_MS_MAX } from '../../../../src/core/cluster/live-engines.ts';

/** An engine that hears itself, and one other that was seen at 0. */
function pair(): LiveEngines {
  const live = new LiveEngines('own');
  live.renewed('own', 1, 0);
  live.renewed('other', 2, 0);
  return live;
}

function hearsItself(live: LiveEngines, nowMs: number): void {
  if (nowMs % 2_000 === 0) live.renewed('own', nowMs, nowMs);
}

const hearsNothing = (): void => {};

/** Looks once a second, as the engine does, and returns when the other engine was first reported as gone. */
function goneAt(live: LiveEngines, fromMs: number, toMs: number, each = hearsItself) {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 1_000) {
    each(live, nowMs);
    if (live.silent(nowMs).length > 0) return nowMs;
  }
  return undefined;
}

describe('who is alive', () => {
  test('[CL3] an engine that renews its key is not gone', () => {
    const live = pair();
    const both = (_live: LiveEngines, nowMs: number): void => {
      hearsItself(live, nowMs);
      live.renewed('other', 3, nowMs);
    };
    expect(goneAt(live, 0, 60_000, both)).toBeUndefined();
  });

  test('[CL3] an engine is gone after 6 s without a renewal, in the revision that was seen last', () => {
    const live = pair();
    expect(goneAt(live, 0, 60_000)).toBe(SILENCE_MS_MAX);
    expect(live.silent(SILENCE_MS_MAX)).toEqual([{ id: 'other', revision: 2 }]);
  });

  test('[CL3] it is reported until its key is gone', () => {
    const live = pair();
    expect(goneAt(live, 0, 60_000)).toBe(6_000);
    expect(live.silent(7_000)).toHaveLength(1);
    expect(live.removed('other')).toBe(true);
    expect(live.silent(8_000)).toEqual([]);
  });

  test('[CL4] an engine that does not hear itself finds no other one gone', () => {
    const live = new LiveEngines('own');
    live.renewed('other', 2, 0);
    expect(goneAt(live, 0, 60_000, hearsNothing)).toBeUndefined();
  });

  test('[CL4] one whose own renewals stop coming finds no other one gone, and counts from the next', () => {
    const live = pair();
    expect(goneAt(live, 0, 60_000, hearsNothing)).toBeUndefined();
    live.renewed('own', 3, 60_000);
    expect(goneAt(live, 60_000, 90_000)).toBe(66_000);
  });

  test('[CL4] silence counts from when it hears itself again after the connection was lost', () => {
    const live = pair();
    live.silent(0);
    live.interrupted();
    expect(goneAt(live, 1_000, 20_000, hearsNothing)).toBeUndefined();
    live.renewed('own', 4, 20_500);
    expect(goneAt(live, 21_000, 60_000)).toBe(27_000);
  });

  test('[CL4] a pause of its own loop is not the silence of others', () => {
    const live = pair();
    live.silent(0);
    expect(live.silent(30_000)).toEqual([]);
    live.renewed('own', 4, 30_100);
    live.renewed('other', 5, 30_200);
    expect(goneAt(live, 31_000, 36_000)).toBeUndefined();
  });

  test('[CL3] its own key is never reported', () => {
    const live = new LiveEngines('own');
    live.renewed('own', 1, 0);
    expect(goneAt(live, 0, 60_000)).toBeUndefined();
  });
});
