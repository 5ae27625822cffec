import { describe, expect, test } from 'vitest';
import { MessageRate, type RateVerdict } from '../../../../src/core/limits/message-rate.ts';

const LIMITS = { perSecond: 10, burst: 20 };

describe('messages of one connection', () => {
  test('[guarantees 4] A burst is accepted, then the rate', () => {
    const rate = new MessageRate(LIMITS, 0);
    expect(send(rate, 0, 25)).toEqual({ ok: 20, excess: 5, flood: 0 });
    expect(send(rate, 1_000, 25)).toEqual({ ok: 10, excess: 15, flood: 0 });
    expect(send(rate, 60_000, 25)).toEqual({ ok: 20, excess: 5, flood: 0 });
  });

  test('[guarantees 4] A connection over the rate for ten seconds is a flood, and a pause restarts the ten seconds', () => {
    const rate = new MessageRate(LIMITS, 0);
    for (let second = 0; second < 10; second++) expect(send(rate, second * 1_000, 30).flood).toBe(0);
    expect(send(rate, 10_000, 30).flood).toBe(20);
    expect(send(rate, 12_000, 30).flood).toBe(0);
  });

  test('[guarantees 4] A connection that keeps to the rate is never refused', () => {
    const rate = new MessageRate(LIMITS, 0);
    for (let message = 0; message < 1_000; message++) expect(rate.take(message * 100)).toBe('ok');
  });
});

function send(rate: MessageRate, nowMs: number, count: number): Record<RateVerdict, number> {
  const verdicts = { ok: 0, excess: 0, flood: 0 };
  for (let message = 0; message < count; message++) verdicts[rate.take(nowMs)]++;
  return verdicts;
}
