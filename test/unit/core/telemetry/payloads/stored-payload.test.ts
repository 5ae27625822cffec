import { expect, test } from 'vitest';
import {
  explainGaps,
  inputForAgain,
  isComplete,
  stillRedacted,
} from '../../../../../src/core/telemetry/payloads/explain-payloads.ts';
import { readPart } from '../../../../../src/core/telemetry/payloads/stored-payload.ts';
import { textToByteString } from '../../../../../src/protocol/json/byte-string.ts';

const whole = (json: string) => readPart({ json: textToByteString(json), isWhole: true, bytes: json.length });

test('[O9] A payload without secrets keeps its text, with every digit', () => {
  const json = '{ "id": 12345678901234567890, "name": "Zoë" }';
  expect(whole(json)).toMatchObject({ json, redacted: [], cut_at: null, gap: null });
});

test('[O9] Secrets are redacted by their keys, and their places are listed', () => {
  const stored = whole('{"user":"ann","auth":{"password":"x"},"list":[{"api_key":"y","n":12345678901234567890}]}');
  expect(stored.json).toBe(
    '{"user":"ann","auth":{"password":"[redacted]"},"list":[{"api_key":"[redacted]","n":12345678901234567890}]}',
  );
  expect(stored.redacted).toEqual(['/auth/password', '/list/0/api_key']);
  expect(isComplete(stored)).toBe(false);
  expect(explainGaps(stored)).toEqual(['Secrets are redacted at /auth/password, /list/0/api_key.']);
});

test('[O9] A secret in a payload that is cut is redacted too', () => {
  const stored = readPart({ json: '{"a":1,"password":"hunter2 and mo', isWhole: false, bytes: 9_000 });
  expect(stored).toMatchObject({
    json: '{"a":1,"password":"[redacted]"}',
    redacted: ['/password'],
    cut_at: '/password',
  });
  expect(explainGaps(stored).at(-1)).toBe('The end is missing from /password on: the whole value has 9000 bytes.');
});

test('[FUN-10] Channels of the first call are left out when it runs again', () => {
  const channel = (id: string) => `{"channel_id":"${id}","access_key":"k","direction":"read"}`;
  const stored = whole(`{"body":1,"request_body":${channel('a')},"more":[${channel('b')},2]}`);
  expect(stored).toMatchObject({ redacted: [], channels: ['/request_body', '/more/0'] });
  expect(stored.json).not.toContain('"k"');
  expect(isComplete(stored)).toBe(true);
  expect(inputForAgain(stored.json ?? '', stored.channels)).toBe('{"body":1,"more":[null,2]}');
});

test('[FUN-10] A redacted value counts as missing until it is replaced', () => {
  const places = ['/auth/password', '/list/0/api_key'];
  expect(stillRedacted({ auth: { password: '[redacted]' }, list: [{ api_key: 'new' }] }, places)).toEqual([
    '/auth/password',
  ]);
  expect(stillRedacted({}, places)).toEqual([]);
});

test('[O9] What cannot be read as JSON is not kept', () => {
  expect(whole('{"a":')).toMatchObject({ json: null, gap: 'unreadable' });
});
