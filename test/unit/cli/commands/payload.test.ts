import { describe, expect, test } from 'vitest';
import { applyPairs, readPayload } from '../../../../src/cli/commands/call/payload.ts';
import type { Terminal } from '../../../../src/cli/text/terminal.ts';

describe('payload pairs', () => {
  test.each([
    [{}, ['sku=a1'], { sku: 'a1' }],
    [{}, ['qty:=2', 'ok:=true', 'none:=null'], { qty: 2, ok: true, none: null }],
    [{}, ['text=2'], { text: '2' }],
    [{}, ['empty='], { empty: '' }],
    [{}, ['url=https://x/?a=b'], { url: 'https://x/?a=b' }],
    [{}, ['tags[]=new', 'tags[]=red', 'tags[]:=3'], { tags: ['new', 'red', 3] }],
    [{}, ['address.city=Oslo', 'address.zip=0150'], { address: { city: 'Oslo', zip: '0150' } }],
    [{}, ['a.b[]=x', 'a.b[]=y'], { a: { b: ['x', 'y'] } }],
    [{ sku: 'old', qty: 1 }, ['sku=new'], { sku: 'new', qty: 1 }],
    [{ a: { b: 1, c: 2 } }, ['a.b:=9'], { a: { b: 9, c: 2 } }],
    [{ tags: ['old'] }, ['tags[]=new'], { tags: ['new'] }],
    [{}, ['t[]=1', 't=x', 't[]=2'], { t: ['2'] }],
  ])('[CLI-20] %j with %j becomes %j', (payload, pairs, expected) => {
    const before = structuredClone(payload);
    expect(applyPairs(payload, pairs)).toEqual(expected);
    expect(payload).toEqual(before);
  });

  test('[CLI-20] without pairs the payload may be any value', () => {
    expect(applyPairs([1], [])).toEqual([1]);
    expect(applyPairs(null, [])).toBeNull();
  });

  test.each([
    [{}, 'sku', "'sku' is not a pair: expected key=text, key:=json or key[]=text."],
    [{}, '=x', "'=x' has an empty key"],
    [{}, 'a..b=x', "'a..b=x' has an empty key"],
    [{}, 'qty:=two', "'qty:=two': 'two' is not valid JSON."],
    [{}, 'id:=12345678901234567890', "'id:=12345678901234567890' holds the number 12345678901234567890, which would"],
    [{ a: 1 }, 'a.b=x', "'a.b=x' does not fit: a is a number, not an object."],
    [[1], 'a=x', 'The payload is a list; key=value pairs need an object.'],
    ['text', 'a=x', 'The payload is a string'],
  ])('[CLI-20] for the payload %j, the pair %s is refused with the reason', (payload, pair, message) => {
    expect(() => applyPairs(payload, [pair])).toThrow(message);
  });

  test.each([
    [['{"sku":"a1"}'], { sku: 'a1' }],
    [['{"sku":"a1","qty":1}', 'qty:=2'], { sku: 'a1', qty: 2 }],
    [['[1,2]'], [1, 2]],
    [['"text"'], 'text'],
    [['-1.5e3'], -1_500],
    [['null'], null],
    [['-'], { from: 'stdin' }],
    [['sku=a1'], { sku: 'a1' }],
    [['true=1'], { true: '1' }],
    [[], {}],
  ])('[CLI-20] the operands %j are the payload %j', async (operands, expected) => {
    const terminal: Pick<Terminal, 'cwd' | 'readInput'> = {
      cwd: '/',
      readInput: async () => '{"from":"stdin"}',
    };
    expect(await readPayload(undefined, operands, terminal)).toEqual(expected);
  });

  test('[CLI-20] JSON that cannot be read is refused as JSON, not as a pair', async () => {
    const terminal: Pick<Terminal, 'cwd' | 'readInput'> = { cwd: '/', readInput: async () => '' };
    await expect(readPayload(undefined, ['{"sku":a1}'], terminal)).rejects.toThrow('is not valid JSON');
  });

  test('[X19] a field named __proto__ is an ordinary field', () => {
    const payload = applyPairs({}, ['__proto__.polluted=yes', 'constructor=x']);
    expect(JSON.stringify(payload)).toBe('{"__proto__":{"polluted":"yes"},"constructor":"x"}');
    expect({}).not.toHaveProperty('polluted');
  });
});
