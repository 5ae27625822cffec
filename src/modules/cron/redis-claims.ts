// Claims in Redis, which several engines share: each computes its ticks, and one of them gets each tick.
//
// A tick is the key `<prefix>cron:<trigger>:<moment>`, set if it does not exist, and kept for a day. Next to it lies
// the time at which the trigger was last seen. A trigger that one engine's worker unregisters may still exist in
// another engine, so unregistering changes nothing here.

import type { RedisLink } from '../../effects/redis.ts';
import type { Tick, TickClaims } from './claims.ts';

export interface RedisClaimsOptions {
  /** Throws when the settings can never work. */
  readonly createLink: () => Promise<RedisLink>;
  readonly keyPrefix: string;
  readonly nowMs: () => number;
  readonly onFailure: (reason: string) => void;
  /** The clocks of this engine and of Redis differ so much that ticks come late. */
  readonly onClockDifference: (differenceMs: number) => void;
}

const CLAIM_MS_MAX = 24 * 3_600_000;
const SEEN_MS_MAX = 800 * 86_400_000;
const CLOCK_DIFFERENCE_MS_MAX = 500;

export function redisClaims(options: RedisClaimsOptions): TickClaims {
  const { keyPrefix, nowMs, onFailure } = options;
  let link: RedisLink | undefined;
  const run = async (...args: string[]): Promise<unknown> => {
    if (link === undefined) throw new Error('The module has not been started');
    return await link.run(args);
  };
  const seenKey = (trigger: string): string => `${keyPrefix}cron:${trigger}:seen`;
  const see = (trigger: string, atMs: number, ...condition: string[]): Promise<unknown> =>
    run('SET', seenKey(trigger), String(atMs), 'PX', String(SEEN_MS_MAX), ...condition);
  const claimOne = async ({ trigger, atMs }: Tick): Promise<boolean> => {
    const key = `${keyPrefix}cron:${trigger}:${atMs}`;
    const reply = await run('SET', key, '1', 'NX', 'PX', String(CLAIM_MS_MAX));
    if (reply !== null) await see(trigger, atMs);
    return reply !== null;
  };
  return {
    get trouble() {
      return link === undefined ? 'not started' : link.trouble;
    },
    async start() {
      link = await options.createLink();
      await link.open();
      const difference = clockDifference(await run('TIME'), nowMs());
      if (Math.abs(difference) > CLOCK_DIFFERENCE_MS_MAX) options.onClockDifference(difference);
    },
    stop: () => link?.close(),
    details: () => ({ address: link?.address }),
    open(trigger, done) {
      const lookedAt = async (): Promise<number | undefined> => {
        const seen = await run('GET', seenKey(trigger));
        if (seen === null) await see(trigger, nowMs(), 'NX');
        return seen === null ? undefined : Number(String(seen));
      };
      lookedAt().then(done, (error: unknown) => {
        onFailure(String(error));
        done(undefined);
      });
    },
    claim(ticks, done) {
      Promise.all(ticks.map(claimOne)).then(
        (won) => done({ ok: true, won }),
        (error: unknown) => done({ ok: false, reason: String(error) }),
      );
    },
    release() {},
  };
}

/** `TIME` returns seconds and microseconds. */
function clockDifference(reply: unknown, nowMs: number): number {
  const [seconds, microseconds] = Array.isArray(reply) ? reply.map((part) => Number(String(part))) : [];
  return nowMs - ((seconds ?? 0) * 1_000 + (microseconds ?? 0) / 1_000);
}
