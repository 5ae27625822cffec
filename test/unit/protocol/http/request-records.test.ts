// Requests and replies as records: they mean what the same request means as JSON, whatever a client or a handler sends.

import { describe, expect, test } from 'vitest';
import { MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { RequestRecord } from '../../../../src/protocol/http/request-record.ts';
import { type RequestHead, routeText } from '../../../../src/protocol/http/request-text.ts';
import { asByteString, parseRawJson, RAW_NULL, rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { Channels } from '../../../../src/sdk/channels/channels.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { RequestReader, readRoute } from '../../../../src/sdk/triggers/received-request.ts';
import { resolveSettings } from '../../../../src/sdk/worker/options.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

const platform = new FakePlatform();
const channels = new Channels(
  platform,
  resolveSettings('ws://engine.test:49134', {}, platform, { headers: {}, subprotocols: [] }),
);
const CHANNEL = { name: '7-12', suffix: '-engine', bodyKey: 'b'.repeat(32), answerKey: 'a'.repeat(32) };

function headOf(random: SeededRandom): RequestHead {
  const text = (): string => {
    const top = random.pick([0x7f, 0x7f, 0x2ff, 0x1ffff]);
    const points = Array.from({ length: random.below(12) }, () => 0x20 + random.below(top - 0x20));
    return String.fromCodePoint(...points).replace(/[\ud800-\udfff]/g, '?');
  };
  const names = ['host', 'cookie', 'cookie', 'accept', 'accept', '__proto__', 'x-request-id', 'x-1'];
  const headers = Array.from({ length: random.below(8) }, () => [random.pick(names), text()]).flat();
  const parameters = random.pick([[], ['id'], ['id', 'constructor'], ['__proto__']]);
  return {
    route: routeText('GET', '/a/:id', parameters),
    values: parameters.map(text),
    method: random.pick(['GET', 'HEAD']),
    path: `/${text().replaceAll('?', '!')}`,
    query: random.pick(['', 'a=1&a=2&b', `q=${encodeURIComponent(text())}+x`, '__proto__=1&%zz=%']),
    headers,
    clientAddress: '127.0.0.1',
    requestId: text(),
    requestIdHeader: 'x-request-id',
  };
}

function bytesOf(record: RequestRecord): Buffer {
  const bytes = Buffer.alloc(record.byteLength + 2, 0xff);
  Payload.ofWritten(record).writeTo(bytes, 1);
  return bytes;
}

const ROUTE = { function_id: 'a::b', trigger: { type: 'http', id: 't' }, channels: '-engine', baggage: '' };

function read({ head }: RequestRecord, bytes: Buffer): unknown {
  const { method, path, parameters } = head.route;
  const route = readRoute(JSON.stringify({ ...ROUTE, method, path, parameters }));
  if (route === undefined) throw new Error('The route cannot be read');
  return channels.revive(new RequestReader(nodeMemory).read(bytes, 1, bytes.length - 1, route));
}

describe('[wire 2.5] the record of a request', () => {
  test('gives the handler the object that the other forms give it', () => {
    forEachSeed(500, (random) => {
      const body = random.pick([RAW_NULL, rawJson({ a: ['é', 1, null] }), rawJson('text')]);
      const context = random.pick(['', '{"user":"ü"}']);
      const record = new RequestRecord(
        headOf(random),
        body,
        asByteString(Buffer.from(context).toString('latin1')),
        CHANNEL,
      );
      const bytes = bytesOf(record);
      expect(bytes[0]).toBe(0xff);
      expect(bytes.at(-1), 'it has the length that it claims').toBe(0xff);
      const object = JSON.parse(JSON.stringify(read(record, bytes)));
      const expected: unknown = parseRawJson(record.asText());
      expect(object).toEqual(expected);
      expect(Object.keys(Object(object).headers)).toEqual(Object.keys(Object(expected).headers));
    });
  });

  test('is refused by the SDK where a length does not fit', () => {
    const record = new RequestRecord({ ...PLAIN, headers: ['host', 'a', 'accept', '*/*'] }, RAW_NULL, '', CHANNEL);
    const bytes = bytesOf(record);
    for (let cut = 1; cut < bytes.length - 1; cut++) {
      expect(() => read(record, bytes.subarray(0, cut)), `cut after ${cut} bytes`).toThrow();
    }
  });

  test('cannot express a text of more than 65 535 bytes', () => {
    const long = (length: number): RequestRecord => {
      return new RequestRecord({ ...PLAIN, headers: ['cookie', 'c'.repeat(length)] }, RAW_NULL, '', CHANNEL);
    };
    expect(long(65_535).isExpressible).toBe(true);
    expect(long(65_536).isExpressible).toBe(false);
  });

  test('of a GET without headers of its own takes at most 250 bytes with its frame', () => {
    const head = { ...PLAIN, headers: ['host', '127.0.0.1:65535'], requestId: 'f'.repeat(32) };
    const channel = { ...CHANNEL, name: '1023-1000000', bodyKey: 'b'.repeat(22), answerKey: 'a'.repeat(22) };
    const messages = new MessageBuffer();
    messages.call({
      idLow: 1,
      idHigh: 1,
      functionNumber: 1,
      depth: 1,
      timeoutMs: 30_000,
      metadata: undefined,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      baggage: undefined,
      extra: undefined,
      payload: Payload.ofWritten(new RequestRecord(head, RAW_NULL, '', channel)),
    });
    expect(messages.length).toBeLessThanOrEqual(250);
  });
});

const PLAIN: RequestHead = {
  route: routeText('GET', '/hello', []),
  values: [],
  method: 'GET',
  path: '/hello',
  query: '',
  headers: [],
  clientAddress: '127.0.0.1',
  requestId: 'r-1',
  requestIdHeader: 'x-request-id',
};

test('[wire 2.5] a route that lacks something is no route', () => {
  const whole = { ...ROUTE, method: 'GET', path: '/', parameters: ['id'] };
  expect(readRoute(JSON.stringify(whole))).toMatchObject({ functionId: 'a::b', parameters: ['id'] });
  for (const name of Object.keys(whole))
    expect(readRoute(JSON.stringify({ ...whole, [name]: 1 })), name).toBeUndefined();
  for (const text of ['null', '', '{"function_id":']) expect(readRoute(text), text).toBeUndefined();
});
