// Calls as the SDK passes them to a wire, with as few fields as possible.

import { type DeliveredCall, type Encoded, type EncodedCall, encodeValue } from '../../../../src/sdk/wire/wire.ts';

export function madeCall(fields: Partial<EncodedCall> = {}): EncodedCall {
  return {
    number: 0,
    functionId: 'a::b',
    timeoutMs: 5,
    action: undefined,
    traceparent: undefined,
    baggage: undefined,
    depth: 0,
    metadata: undefined,
    data: undefined,
    ...fields,
  };
}

export function deliveredCall(fields: Partial<DeliveredCall> = {}): DeliveredCall {
  return {
    functionId: 'a::b',
    idText: undefined,
    idLow: 1,
    idHigh: 2,
    timeoutMs: 5,
    traceparent: undefined,
    baggage: undefined,
    depth: 1,
    metadata: undefined,
    trigger: undefined,
    ...fields,
  };
}

export function encoded(value: unknown): Encoded {
  const text = encodeValue(value);
  if (text === undefined) throw new Error(`${String(value)} has no JSON form`);
  return text;
}
