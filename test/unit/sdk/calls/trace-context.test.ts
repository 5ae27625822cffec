import { describe, expect, test } from 'vitest';
import { callDepth, parseBaggage, parseTraceparent } from '../../../../src/sdk/calls/trace-context.ts';

describe('baggage', () => {
  test('[SDK-3] entries are decoded without spaces and properties, and an invalid entry is skipped', () => {
    const entries = parseBaggage(' tenant=acme%20inc ;secret, user=%E2%82%AC,broken=%zz,=nothing,alone,empty=');
    expect([...entries]).toEqual([
      ['tenant', 'acme inc'],
      ['user', '€'],
      ['broken', '%zz'],
      ['empty', ''],
    ]);
    expect(parseBaggage(undefined).size).toBe(0);
  });

  test('[I8] the depth is the entry svc.depth, and zero if that is missing or not a number', () => {
    const depthOf = (header: string | undefined) => callDepth(parseBaggage(header));
    expect(depthOf('a=1, svc.depth=7 ,b=2')).toBe(7);
    expect([undefined, '', 'svc.depth=', 'svc.depth=deep', 'svc.depth=-3', 'xsvc.depth=9'].map(depthOf)).toEqual([
      0, 0, 0, 0, 0, 0,
    ]);
  });
});

describe('traceparent', () => {
  test('[SDK-3] both ids are read from a well-formed header only', () => {
    expect(parseTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')).toEqual({
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
    });
    for (const header of [undefined, '', '00-zz-b7-01', '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331']) {
      expect(parseTraceparent(header)).toBeUndefined();
    }
  });
});
