import { describe, expect, test } from 'vitest';
import { faultLine } from '../../../support/load/fault-line.ts';
import { CronEngine, momentOf, START, timeOf } from '../../../support/stores/cron-engine.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const EVERY_SECOND = { expression: '* * * * * *' };
const EVERY_TEN = { expression: '*/10 * * * * *' };

describe('a tick', () => {
  test('[modules 7] calls the function with the trigger, the scheduled and the actual time', async () => {
    const cron = await CronEngine.start();
    cron.worker.bind('nightly', 'cron', 'job', { config: { expression: '0 5 12 * * *' }, metadata: { a: 1 } });
    cron.pass(5 * 60_000 - 1_000);
    cron.clock.advance(1_000);
    expect(cron.calls()).toMatchObject([
      {
        data: {
          trigger: 'cron',
          job_id: 'nightly',
          scheduled_time: '2026-11-21T12:05:00.000Z',
          actual_time: '2026-11-21T12:05:00.000Z',
        },
        metadata: { a: 1 },
      },
    ]);
  });

  test('[modules 7] comes at the times of its time zone', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', { expression: '30 21 * * *', timezone: 'Asia/Tokyo' });
    expect(cron.pass(HOUR_MS)).toEqual(['12:30:00']);
  });

  test('[modules 7] has its next time in the list of triggers', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', { expression: '0 0 13 * * *' });
    const row = cron.worker.ask('engine::registered-triggers::info', { id: 't' });
    expect(row).toMatchObject({ status: 'Active', next_fire_time: '2026-11-21T13:00:00.000Z' });
  });

  test('[PD-26] calls one of two replicas, and the other after the first has left', async () => {
    const cron = await CronEngine.start();
    const replica = cron.engine.connect();
    replica.register('job');
    cron.bind('a', EVERY_SECOND);
    replica.bind('b', 'cron', 'job', { config: EVERY_SECOND });
    cron.clock.advance(2_000);
    expect([...cron.ticks(), ...cron.ticks(replica)]).toHaveLength(2);
    cron.worker.drop();
    cron.clock.advance(1_000);
    const [call] = cron.calls(replica);
    expect(call).toMatchObject({ data: { job_id: 'b' } });
  });

  test('[PD-26] runs every one of several equal triggers of one connection', async () => {
    const cron = await CronEngine.start();
    const ids = Array.from({ length: 1_000 }, (_, number) => `t${number}`);
    for (const id of ids) cron.bind(id, EVERY_SECOND);
    cron.worker.send({ type: 'unregistertrigger', id: 't7' });
    cron.bind('t7', EVERY_SECOND);
    cron.clock.advance(1_000);
    const called = cron.calls().map(({ data }) => (data as { job_id: string }).job_id);
    expect(called.sort()).toEqual(ids.sort());
  });

  test('[T8] does not run if its condition returns false, and counts as ended', async () => {
    const cron = await CronEngine.start();
    cron.worker.register('rules::weekday');
    cron.bind('t', { ...EVERY_SECOND, overlap: false, condition_function_id: 'rules::weekday' });
    for (const verdict of [false, false, true]) {
      cron.clock.advance(1_000);
      const [asked] = cron.calls();
      expect(asked).toMatchObject({ function_id: 'rules::weekday', data: { trigger: 'cron' } });
      if (asked !== undefined) cron.worker.result(asked, verdict);
    }
    expect(cron.calls()).toMatchObject([{ function_id: 'job' }]);
  });

  test('[W2] does not run after its trigger was removed', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.clock.advance(1_000);
    cron.worker.unbind('t');
    cron.clock.advance(5_000);
    expect(cron.ticks()).toEqual(['12:00:01']);
  });

  test('[PD-51] of a durable trigger runs, although the trigger exists before the module has started', async () => {
    const cron = await CronEngine.start(undefined, undefined, (engine) =>
      engine.port.bindDurable({ type: 'cron', functionId: 'job', config: EVERY_SECOND, metadata: undefined }),
    );
    expect(cron.pass(2_000)).toEqual(['12:00:01', '12:00:02']);
  });

  test('[G1] does not run while the engine drains', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.drain();
    cron.clock.advance(5_000);
    expect(cron.ticks()).toEqual([]);
  });
});

describe('[CR1] a claim', () => {
  test('[CR1] is stored before the function is called', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.disk.isSlow = true;
    cron.clock.advance(600);
    expect(cron.calls()).toEqual([]);
    cron.disk.answer();
    expect(cron.ticks()).toEqual(['12:00:01']);
  });

  test('[CR1] prevents a second run of a tick after a crash during the first', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_TEN);
    cron.clock.advance(9_500);
    expect(cron.calls()).toHaveLength(1);
    // Its clock is a little slow when it returns.
    cron.clock.setWallClock(START + 9_000);
    const again = await cron.crash(0);
    again.bind('another-id', EVERY_TEN);
    again.clock.advance(11_000);
    expect(again.ticks()).toEqual(['12:00:20']);
    expect(again.skipped('claimed_before')).toBe(1);
  });

  test('[CR1] that cannot be written prevents the tick, which is logged and counted', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.disk.trouble = 'the disk is gone';
    cron.clock.advance(2_000);
    expect(cron.calls()).toEqual([]);
    expect(cron.skipped('claim_failed')).toBe(2);
    expect(cron.engine.logLines.join('\n')).toContain('the disk is gone');
    cron.disk.trouble = undefined;
    cron.clock.advance(1_000);
    expect(cron.ticks()).toEqual(['12:00:03']);
  });
});

describe('[CR2] ticks missed while the engine was down', () => {
  test('[CR2] are skipped, with one warning that counts them', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_TEN);
    cron.clock.advance(10_000);
    cron.ticks();
    const again = await cron.crash(60_000);
    again.bind('t', EVERY_TEN);
    again.clock.advance(10_000);
    expect(again.ticks()).toEqual(['12:01:20']);
    expect(again.warnings).toHaveLength(1);
    expect(again.warnings[0]).toContain('6');
  });

  test('[CR2] are replaced by one run, with misfire: once', async () => {
    const config = { ...EVERY_TEN, misfire: 'once' };
    const cron = await CronEngine.start();
    cron.bind('t', config);
    cron.clock.advance(10_000);
    cron.ticks();
    const again = await cron.crash(60_000);
    again.bind('t', config);
    expect(again.ticks()).toEqual(['12:01:10']);
    again.clock.advance(10_000);
    expect(again.ticks()).toEqual(['12:01:20']);
  });

  test.each([
    [30 * 60_000, ['12:30:00']],
    [89 * 60_000, ['12:30:00']],
    [91 * 60_000, []],
  ])(
    '[CR2] are replaced by one run if the last of them is at most an hour old: down for %d ms',
    async (downMs, expected) => {
      const config = { expression: '30 12 * * *', misfire: 'once' };
      const cron = await CronEngine.start();
      cron.bind('t', config);
      const again = await cron.crash(downMs);
      again.bind('t', config);
      expect(again.ticks()).toEqual(expected);
    },
  );

  test('[CR2] do not exist for a trigger that is new, or was removed in the meantime', async () => {
    const config = { ...EVERY_TEN, misfire: 'once' };
    const cron = await CronEngine.start();
    cron.bind('t', config);
    cron.clock.advance(10_000);
    cron.ticks();
    cron.worker.unbind('t');
    cron.pass(60_000);
    cron.bind('t', config);
    cron.bind('new', { ...config, expression: '*/9 * * * * *' });
    expect(cron.ticks()).toEqual([]);
    expect(cron.warnings).toEqual([]);
  });
});

describe('[CR3] the wall clock', () => {
  test('[CR3] [fault 47] that is set back does not run a tick again', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_TEN);
    expect(cron.pass(60_000)).toHaveLength(6);
    cron.clock.setWallClock(START);
    expect(cron.pass(60_000)).toEqual([]);
    expect(cron.pass(10_000)).toEqual(['12:01:10']);
  });

  test('[CR3] [fault 47] that is set forward makes the ticks in between missed ones', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_TEN);
    cron.clock.advance(10_000);
    cron.ticks();
    cron.clock.setWallClock(START + 10_000 + HOUR_MS);
    cron.clock.advance(10_000);
    expect(cron.ticks()).toEqual(['13:00:20']);
    expect(cron.warnings).toHaveLength(1);
    expect(cron.warnings[0]).toContain('360');
  });

  test('[CR3] [fault 47] that is set forward and back lets the skipped ticks run', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_TEN);
    cron.clock.advance(10_000);
    cron.clock.setWallClock(START + DAY_MS);
    cron.clock.advance(10_000);
    cron.clock.setWallClock(START + 20_000);
    cron.ticks();
    expect(cron.pass(20_000)).toEqual(['12:00:30', '12:00:40']);
  });

  test('[CR3] [fault 47] that moves by a few milliseconds changes nothing', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    const ticks: string[] = [];
    for (let second = 0; second < 30; second++) {
      ticks.push(...cron.pass(1_000));
      cron.clock.setWallClock(cron.clock.nowMs() + (second % 2 === 0 ? 7 : -9));
    }
    expect(new Set(ticks).size).toBe(ticks.length);
    expect(ticks.length).toBeGreaterThanOrEqual(29);
    expect(cron.warnings).toEqual([]);
  });

  test('[CR3] does not delay a tick of a busy process', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.clock.advance(1_000);
    cron.clock.stall(4_000);
    expect(cron.ticks()).toEqual(['12:00:01', '12:00:02', '12:00:03', '12:00:04', '12:00:05']);
  });

  test.each(['process', 'machine'])(
    '[CR3] [fault 47] that advanced while the %s slept makes ticks missed',
    async (who) => {
      const cron = await CronEngine.start();
      cron.bind('skips', EVERY_TEN);
      cron.bind('makes-up', { ...EVERY_TEN, misfire: 'once' });
      cron.clock.advance(1_000);
      // A stopped process sees both clocks advance; a machine that sleeps only the one on the wall.
      if (who === 'process') cron.clock.stall(600_000);
      else cron.clock.setWallClock(START + 601_000);
      cron.clock.advance(1_000);
      expect(cron.ticks()).toEqual(['12:10:00']);
      expect(cron.warnings).toHaveLength(1);
    },
  );
});

describe('[CR4] runs at the same time', () => {
  test('[CR4] are up to ten per trigger, and more are skipped and counted', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', EVERY_SECOND);
    cron.bind('other', { expression: '5 * * * * *' });
    cron.clock.advance(15_000);
    const calls = cron.calls();
    expect(calls).toHaveLength(11);
    expect(cron.skipped('in_flight')).toBe(5);
    for (const call of calls.slice(0, 3)) cron.worker.result(call, null);
    cron.clock.advance(2_000);
    expect(cron.calls().map(timeOf)).toEqual(['12:00:16', '12:00:17']);
  });

  test('[CR4] are one with overlap: false', async () => {
    const cron = await CronEngine.start();
    cron.bind('t', { ...EVERY_SECOND, overlap: false });
    cron.clock.advance(3_000);
    const [call, ...more] = cron.calls();
    expect(more).toEqual([]);
    if (call !== undefined) cron.worker.fail(call, { code: 'x', message: 'failed' });
    cron.clock.advance(1_000);
    expect(cron.calls()).toHaveLength(1);
    expect(cron.skipped('in_flight')).toBe(2);
  });
});

describe('jumps of the clock', () => {
  test.each([-DAY_MS, -HOUR_MS, -1_500, 1_500, HOUR_MS, DAY_MS])(
    '[CR1] [CR3] [fault 47] no tick runs twice when the clock jumps by %d ms and back',
    async (jumpMs) => {
      const line = faultLine('47', `clock jump of ${jumpMs} ms`, 'double=0');
      const cron = await CronEngine.start();
      cron.bind('t', { expression: '*/2 * * * * *', misfire: 'once' });
      const seen = cron.pass(20_000, momentOf);
      cron.clock.setWallClock(cron.clock.nowMs() + jumpMs);
      seen.push(...cron.pass(20_000, momentOf));
      cron.clock.setWallClock(cron.clock.nowMs() - jumpMs);
      seen.push(...cron.pass(60_000, momentOf));
      line.figure = `double=${seen.length - new Set(seen).size},runs=${seen.length}`;
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThanOrEqual(38);
    },
  );
});

describe('invalid configs of a trigger', () => {
  test.each([
    [{}, "Missing 'expression'"],
    [undefined, "Missing 'expression'"],
    [{ expression: 7 }, 'config.expression'],
    [{ expression: '61 * * * *' }, "the minute '61' at character 1"],
    [{ expression: '0 0 30 2 *' }, 'is never due'],
    [{ expression: '0 0 0 1 1 * 2020' }, 'is never due'],
    [{ ...EVERY_SECOND, timezone: 'Europe/Berln' }, "Did you mean 'Europe/Berlin'"],
    [{ ...EVERY_SECOND, misfire: 'all' }, "'skip' or 'once'"],
    [{ ...EVERY_SECOND, overlap: 'no' }, 'config.overlap'],
    [{ ...EVERY_SECOND, queue: '' }, 'queue'],
    [{ ...EVERY_SECOND, timezon: 'UTC' }, "Did you mean 'timezone'"],
    [{ ...EVERY_SECOND, condition_function_id: 7 }, 'condition_function_id'],
  ])('[modules 7] %j: %s', async (config, text) => {
    const cron = await CronEngine.start();
    cron.worker.bind('t', 'cron', 'job', { config });
    const [refusal] = cron.worker.received('triggerregistrationresult');
    expect(refusal).toMatchObject({
      error: { code: 'trigger_registration_failed', message: expect.stringContaining(text) },
    });
  });
});
