// The request object as text, and results as answers.

import { describe, expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../../../../src/modules/http/requests/concurrency-limit.ts';
import {
  checkHeaders,
  readHandlerResult,
  readHandlerValue,
} from '../../../../../src/modules/http/requests/handler-result.ts';
import { queryText, requestText, routeText } from '../../../../../src/protocol/http/request-text.ts';
import { byteStringToText, rawJson } from '../../../../../src/protocol/json/byte-string.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

function parse(text: Parameters<typeof byteStringToText>[0]): unknown {
  return JSON.parse(byteStringToText(text));
}

describe('the request object', () => {
  test('is JSON whatever a client sends, and __proto__ is an ordinary name', () => {
    forEachSeed(200, (random) => {
      const strange = () => String.fromCodePoint(...Array.from({ length: 6 }, () => random.below(0x2ff)));
      const [name, value, id] = [strange(), strange(), strange()];
      const head = {
        route: routeText('GET', '/:constructor', ['constructor']),
        values: [value],
        method: 'GET',
        path: `/${strange()}`,
        query: '',
        headers: ['__proto__', value, name, value],
        clientAddress: '127.0.0.1',
        requestId: id,
        requestIdHeader: 'x-request-id',
      };
      const parsed = Object(parse(rawText(`${requestText(head)}}`)));
      expect(Object.entries(parsed.path_params)).toEqual([['constructor', value]]);
      expect(Object.entries(parsed.headers)).toContainEqual(['__proto__', value]);
      expect(parsed.headers['x-request-id']).toBe(id);
    });
  });

  test('has the query decoded like a form', () => {
    const cases: [string, unknown][] = [
      ['a=1&b=2', { a: '1', b: '2' }],
      ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
      ['a', { a: '' }],
      ['a=b=c', { a: 'b=c' }],
      ['&&a=1&', { a: '1' }],
      ['a+b=c+d%20e', { 'a b': 'c d e' }],
      ['q=100%', { q: '100%' }],
      ['q=%zz&x=%C3%A9', { q: '%zz', x: 'é' }],
      ['%26=%3D', { '&': '=' }],
    ];
    for (const [query, expected] of cases) expect([query, parse(queryText(query))]).toEqual([query, expected]);
  });
});

describe('the result of a handler', () => {
  test('passes its body on as unchanged text', () => {
    const result = rawJson({ body: 0 }).replace('0', '{"b" : 1.0,\\n"a":"\\u00e9"}'.replace('\\n', '\n'));
    const read = readHandlerResult(rawText(result));
    expect(read).toMatchObject({ ok: true, answer: { status: 200, body: '{"b" : 1.0,\n"a":"\\u00e9"}' } });
  });

  test('uses the last of two equal fields, and treats null as absent', () => {
    const text = '{"status_code":200,"status_code":201,"headers":null,"body":1}';
    expect(readHandlerResult(rawText(text))).toMatchObject({ answer: { status: 201, body: '1' } });
    expect(readHandlerResult(rawText('{"status_code":null}'))).toMatchObject({ answer: { status: 200, body: '{}' } });
  });

  test('[PD-56] without any of the fields is an empty answer in drop-in mode only', () => {
    expect(readHandlerResult(rawText('{"a":1}'), true)).toMatchObject({ answer: { status: 200, body: '{}' } });
    expect(readHandlerResult(rawText('7'), true)).toMatchObject({ answer: { status: 200, body: '{}' } });
    expect(readHandlerResult(rawText('{"a":1}'))).toMatchObject({ ok: false });
  });

  test('is the same as text and as values', () => {
    forEachSeed(300, (random) => {
      const any = () => random.pick<unknown>([null, 7, 'text', 'größer', '', [1, 'é'], { a: { b: 2 } }, true, 1.5]);
      const type = random.pick(['content-type', 'Content-Type', 'x-a']);
      const fields = {
        ...(random.chance(70) && { status_code: random.pick<unknown>([200, 204, 404, 199, 600, 200.5, '200', null]) }),
        ...(random.chance(50) && { headers: random.pick<unknown>([{ [type]: 'text/plain' }, null, ['a: b'], 7]) }),
        ...(random.chance(80) && { body: any() }),
        ...(random.chance(20) && { other: any() }),
      };
      const result = random.chance(80) ? fields : any();
      const isDropIn = random.chance(50);
      expect(readHandlerValue(result, isDropIn)).toEqual(readHandlerResult(rawJson(result), isDropIn));
    });
  });

  test('[X14] may not have headers that could break the answer', () => {
    for (const headers of [
      { '': 'a' },
      { 'a b': 'c' },
      { 'a:': 'b' },
      { a: 'b\r\nc: d' },
      { a: 'b\rc' },
      { a: 'b\0' },
      { a: ['b', 'c\x7f'] },
      ['no colon'],
      [7],
      'a: b',
    ]) {
      expect(checkHeaders(headers), JSON.stringify(headers)).toMatchObject({ ok: false });
    }
    expect(checkHeaders({ A: 1, b: [true, 'x'], Connection: 'close' })).toMatchObject({
      ok: true,
      lines: ['a', '1', 'b', 'true', 'b', 'x'],
    });
  });
});

describe('the limit of requests in flight', () => {
  test('[L1] passes a place on through 20 000 waiters that end at once', () => {
    const concurrency = new ConcurrencyLimit(20_000);
    let admitted = 0;
    for (let running = 0; running < 20_000; running++) concurrency.tryEnter();
    const waiter = {
      admitted() {
        admitted++;
        concurrency.leave();
      },
      expired: () => {},
    };
    for (let waiting = 0; waiting < 20_000; waiting++) concurrency.wait(waiter, 0);
    concurrency.leave();
    expect(admitted).toBe(20_000);
    expect(concurrency.tryEnter()).toBe(true);
    expect(concurrency.tryEnter()).toBe(false);
  });

  test('[L1] admits each waiter once when the limit grows, even those that end at once', () => {
    const concurrency = new ConcurrencyLimit(3);
    for (let running = 0; running < 3; running++) concurrency.tryEnter();
    const outcomes: string[] = [];
    const waiter = (name: string, admitted = () => {}) => ({
      admitted: () => {
        outcomes.push(name);
        admitted();
      },
      expired: () => {},
    });
    concurrency.wait(
      waiter('a', () => concurrency.leave()),
      0,
    );
    concurrency.wait(waiter('b'), 0);
    concurrency.wait(waiter('c'), 0);
    concurrency.setLimit(5);
    expect(outcomes).toEqual(['a', 'b', 'c']);
    expect(concurrency.tryEnter()).toBe(false);
    for (let running = 0; running < 5; running++) concurrency.leave();
    for (let running = 0; running < 5; running++) expect(concurrency.tryEnter()).toBe(true);
    expect(concurrency.tryEnter()).toBe(false);
  });

  test('[L1] gives a free place to the request that waited longest, and refuses the others in time', () => {
    const concurrency = new ConcurrencyLimit(1);
    const outcomes: string[] = [];
    const waiter = (name: string) => ({
      admitted: () => void outcomes.push(`${name} in`),
      expired: () => void outcomes.push(`${name} out`),
    });
    expect(concurrency.tryEnter()).toBe(true);
    expect(concurrency.tryEnter()).toBe(false);
    expect(concurrency.wait(waiter('a'), 0)).toBeDefined();
    expect(concurrency.wait(waiter('b'), 0)).toBeUndefined();
    concurrency.leave();
    expect(outcomes).toEqual(['a in']);
    concurrency.wait(waiter('c'), 100);
    concurrency.expire(5_099);
    concurrency.expire(5_100);
    expect(outcomes).toEqual(['a in', 'c out']);
    concurrency.leave();
    expect(concurrency.tryEnter()).toBe(true);
  });
});

function rawText(text: string): ReturnType<typeof rawJson> {
  return text as ReturnType<typeof rawJson>;
}
