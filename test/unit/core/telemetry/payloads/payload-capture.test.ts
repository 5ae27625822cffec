import { describe, expect, test } from 'vitest';
import { PayloadCapture } from '../../../../../src/core/telemetry/payloads/payload-capture.ts';
import { PayloadRules, type PayloadSettings } from '../../../../../src/core/telemetry/payloads/payload-rules.ts';
import { OpenSpan } from '../../../../../src/core/telemetry/spans/span-rows.ts';
import { rawJson } from '../../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../../src/protocol/payload/payload.ts';

const SETTINGS: PayloadSettings = {
  rules: [{ functions: '*', mode: 'all' }],
  ...{ samplingRatio: 0.5, maxBytes: 1_000, memoryMaxBytes: 1024 * 1024 },
};

const span = (id: number, traceId = String(id).padStart(32, '0')) =>
  new OpenSpan(traceId, String(id).padStart(16, '0'), '', 'call a', 'a', '', 0);
const sent = (value: unknown) => Payload.ofText(rawJson(value));

describe('[O9] inputs and outputs', () => {
  test('The first pattern that matches a function decides', () => {
    const rules = new PayloadRules([
      { functions: 'mail::secret', mode: 'off' },
      { functions: 'mail::*', mode: 'all' },
    ]);
    expect(['mail::secret', 'mail::send', 'shop::order'].map((id) => rules.modeOf(id))).toEqual(['off', 'all', 'off']);
  });

  test('With errors, a call that succeeds leaves nothing', () => {
    const capture = new PayloadCapture({ ...SETTINGS, rules: [{ functions: '*', mode: 'errors' }] }, () => {});
    for (const [id, hasFailed] of [
      [1, false],
      [2, true],
    ] as const) {
      const call = span(id);
      capture.begin(call, 'a', sent({ id }));
      capture.end(call, undefined, hasFailed);
    }
    expect(capture.take()).toMatchObject([{ hasFailed: true, input: { json: '{"id":2}', isWhole: true } }]);
  });

  test('With sampled, whole traces are chosen by their id', () => {
    const capture = new PayloadCapture({ ...SETTINGS, rules: [{ functions: '*', mode: 'sampled' }] }, () => {});
    for (const first of ['0', '7', '8', 'f']) {
      const call = span(1, first.padEnd(32, '0'));
      capture.begin(call, 'a', sent(first));
      capture.end(call, sent(1), false);
    }
    expect(capture.take().map(({ traceId }) => traceId[0])).toEqual(['0', '7']);
  });

  test('A long input is cut, and its size is kept', () => {
    const capture = new PayloadCapture(SETTINGS, () => {});
    const call = span(1);
    const text = JSON.stringify('x'.repeat(5_000));
    capture.begin(call, 'a', Payload.ofBytes(Buffer.from(text), 0, text.length));
    capture.end(call, undefined, false);
    const [pair] = capture.take();
    expect(pair?.input).toEqual({ json: text.slice(0, 1_000), isWhole: false, bytes: 5_002 });
  });

  test('Inputs of calls that run are bounded together; one that found no room says so', () => {
    const drops: number[] = [];
    const capture = new PayloadCapture({ ...SETTINGS, memoryMaxBytes: 2_000 }, () => drops.push(1));
    const calls = [span(1), span(2)];
    for (const call of calls) capture.begin(call, 'a', sent('x'.repeat(900)));
    for (const call of calls) capture.end(call, undefined, false);
    expect(capture.take().map(({ input }) => input.gap)).toEqual([undefined, 'no_room']);
    expect(drops).toHaveLength(1);
    const later = span(3);
    capture.begin(later, 'a', sent('x'.repeat(900)));
    capture.end(later, undefined, false);
    expect(capture.take()[0]?.input.gap).toBeUndefined();
  });

  test('An input outlives the message it came in', () => {
    const capture = new PayloadCapture(SETTINGS, () => {});
    const message = Buffer.from('{"a":1}');
    const call = span(1);
    capture.begin(call, 'a', Payload.ofBytes(message, 0, message.length));
    message.fill(0);
    capture.end(call, undefined, false);
    expect(capture.take()[0]?.input.json).toBe('{"a":1}');
  });
});
