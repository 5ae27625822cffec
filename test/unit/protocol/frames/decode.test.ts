import { describe, expect, test } from 'vitest';
import { decodeLocatedFrame, decodeWorkerFrame } from '../../../../src/protocol/frames/decode.ts';
import { locateMembers } from '../../../../src/protocol/frames/envelope.ts';
import { byteStringToText } from '../../../../src/protocol/json/byte-string.ts';

describe('frames that the engine refuses', () => {
  test.each([
    ['{}', "field 'type' must be a string"],
    ['{"type":5}', "field 'type' must be a string"],
    ['{"type":null}', "field 'type' must be a string"],
    ['{"type":""}', "unknown type ''"],
    ['{"type":"Ping"}', "unknown type 'Ping'"],
    ['{"type":"workerregistered","worker_id":"a","reattach_token":"b"}', "unknown type 'workerregistered'"],
    ['{"type":"registerfunction"}', "field 'id' must be string, found nothing"],
    ['{"type":"registerfunction","id":5}', "field 'id' must be string, found number"],
    ['{"type":"registertriggertype","id":"a"}', "field 'description' must be string, found nothing"],
    ['{"type":"invokefunction","invocation_id":"x"}', "field 'function_id' must be string, found nothing"],
    ['{"type":"invokefunction","function_id":"f","timeout_ms":"5"}', "field 'timeout_ms' must be number, found string"],
    ['{"type":"invocationresult"}', "field 'invocation_id' must be string, found nothing"],
    ['{"type":"reattach"}', "field 'previous_worker_id' must be string, found nothing"],
    ['not json', "not a JSON object: unexpected 'n' at byte 0"],
    ['[]', 'not a JSON object: nested too deep, or out of place, at byte 0'],
  ])('[wire 1.5] %s is refused with the field, what it must be and what was found', (text, reason) => {
    expect(decode(text)).toMatchObject({ type: 'refused', reason });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '[X19] A frame of the type %s is refused as unknown',
    (type) => {
      expect(decode(JSON.stringify({ type }))).toEqual({ type: 'refused', reason: `unknown type '${type}'` });
    },
  );

  test('[guarantees 1.2] A long type is quoted in part', () => {
    const frame = decode(JSON.stringify({ type: 'x'.repeat(100_000) }));
    expect(frame).toEqual({ type: 'refused', reason: `unknown type '${'x'.repeat(64)}'` });
  });

  test.each(['{"type":"sometime"}', '{"type":5}', '{"type":"void","extra":1}', '"void"', '["void"]', 'true'])(
    '[wire 2.3] The action %s is accepted or refused',
    (action) => {
      const frame = decode(`{"type":"invokefunction","function_id":"f","action":${action}}`);
      expect(frame.type).toBe(action.startsWith('{"type":"void"') ? 'invokefunction' : 'refused');
    },
  );
});

describe('optional fields', () => {
  const OPTIONAL: Record<string, readonly string[]> = {
    '{"type":"registerfunction","id":"f"': [
      'description',
      'request_format',
      'response_format',
      'metadata',
      'invocation',
    ],
    '{"type":"registerservice","id":"s"': ['name', 'description', 'parent_service_id'],
    '{"type":"registertriggertype","id":"t","description":"d"': [
      'trigger_request_format',
      'call_request_format',
      'namespace',
    ],
    '{"type":"registertrigger","id":"t","trigger_type":"x","function_id":"f"': [
      'metadata',
      'namespace',
      'trigger_namespace',
    ],
    '{"type":"unregistertrigger","id":"t"': ['trigger_type', 'function_id', 'metadata'],
    '{"type":"triggerregistrationresult","id":"t","trigger_type":"x","function_id":"f"': ['error'],
    '{"type":"invokefunction","function_id":"f"': [
      'invocation_id',
      'action',
      'metadata',
      'traceparent',
      'baggage',
      'namespace',
      'timeout_ms',
    ],
    '{"type":"invocationresult","invocation_id":"i"': ['function_id', 'error', 'traceparent', 'baggage'],
    '{"type":"reattach","previous_worker_id":"w"': ['reattach_token'],
  };

  test.each(Object.entries(OPTIONAL))('[wire 2.1] In %s… null counts as absent', (start, fields) => {
    const absent = decode(`${start}}`);
    const nulls = decode(`${start}${fields.map((field) => `,"${field}":null`).join('')}}`);
    expect(absent.type).not.toBe('refused');
    expect(nulls).toEqual(absent);
  });

  test('[wire 1.5] Unknown fields are ignored, such as the second type of Node clients', () => {
    const plain = decode('{"type":"unregistertrigger","id":"t"}');
    expect(decode('{"message_type":"unregistertrigger","id":"t","x":{"y":[]},"type":"unregistertrigger"}')).toEqual(
      plain,
    );
  });
});

describe('frames that another thread has scanned', () => {
  test.each([
    '{"type":"invokefunction","function_id":"f","data":{"x":1}}',
    '{"type":"invokefunction"}',
    '{"type":"ping"}',
    '{"type":',
    'x',
  ])('[I7] %s gives the same result', (text) => {
    const bytes = new TextEncoder().encode(text);
    expect(decodeLocatedFrame(bytes, locateMembers(bytes))).toEqual(decodeWorkerFrame(bytes));
  });
});

describe('payloads', () => {
  test('[PD-8] They are kept as the text that arrived', () => {
    const frame = decode('{"type":"invokefunction","function_id":"f","data": [1.0, "é"] ,"metadata":{"a":1}}');
    if (frame.type !== 'invokefunction') throw new Error('not read');
    expect(frame.data && byteStringToText(frame.data)).toBe('[1.0, "é"]');
    expect(frame.metadata).toBe('{"a":1}');
  });
});

function decode(text: string) {
  return decodeWorkerFrame(new TextEncoder().encode(text));
}
