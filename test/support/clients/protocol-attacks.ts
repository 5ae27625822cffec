// Invalid WebSocket frames and invalid upgrade requests, chosen by a seed.

import type { SeededRandom } from '../random/seeded-random.ts';
import { type BareFrame, encodeFrame } from './bare-socket.ts';

export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  /** RFC 6455 requires that the engine closes the connection. */
  readonly endsConnection: boolean;
}

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const NOTHING = Buffer.alloc(0);
const FRAME = Buffer.from('{"type":"ping"}');
const BAD_UTF8: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf4, 0x90, 0x80, 0x80]),
  Buffer.from([0xe2, 0x82]),
];

export function protocolAttack(random: SeededRandom, frameBytesMax: number): Attack {
  const [name, endsConnection, frames] = random.pick(attacks(random, frameBytesMax));
  const bytes = Buffer.concat(frames.map((frame) => (Buffer.isBuffer(frame) ? frame : encodeFrame(frame))));
  return { name, endsConnection, bytes };
}

type AttackRow = readonly [name: string, endsConnection: boolean, frames: readonly (BareFrame | Buffer)[]];

function attacks(random: SeededRandom, frameBytesMax: number): readonly AttackRow[] {
  const whole = encodeFrame({ opcode: TEXT, payload: FRAME });
  const badText = Buffer.concat([Buffer.from('{"type":"'), random.pick(BAD_UTF8), Buffer.from('"}')]);
  const claims = [2 ** 24, 2 ** 31, 2 ** 32 - 1, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];
  return [
    ['a reserved bit', true, [{ opcode: TEXT, payload: FRAME, reserved: random.between(1, 7) }]],
    ['a reserved opcode', true, [{ opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), payload: FRAME }]],
    ['bad UTF-8 in a text frame', true, [{ opcode: TEXT, payload: badText }]],
    ['a ping over 125 bytes', true, [{ opcode: PING, payload: Buffer.alloc(126 + random.below(1_000)) }]],
    ['a ping in fragments', true, [{ opcode: PING, payload: FRAME, fin: false }]],
    ['a fragment of nothing', true, [{ opcode: 0, payload: FRAME }]],
    [
      'a new message inside another',
      true,
      [
        { opcode: TEXT, payload: FRAME, fin: false },
        { opcode: TEXT, payload: FRAME },
      ],
    ],
    ['a length beyond the limit', true, [{ opcode: BINARY, payload: FRAME, claimedLength: random.pick(claims) }]],
    ['fragments beyond the limit', true, fragmentsOf(TEXT, 1_000, Math.ceil((2 * frameBytesMax) / 1_000) + 1)],
    ['a close frame', true, [{ opcode: CLOSE, payload: Buffer.from([3, 232]) }]],
    ['a close frame with half a code', true, [{ opcode: CLOSE, payload: Buffer.from([3]) }]],
    ['a close frame with a forbidden code', true, [{ opcode: CLOSE, payload: Buffer.from([3, 237]) }]],
    ['a close frame with bad UTF-8', true, [{ opcode: CLOSE, payload: Buffer.from([3, 232, 0xff]) }]],
    ['an unmasked frame', false, [{ opcode: TEXT, payload: FRAME, masked: false }]],
    ['half a frame', false, [whole.subarray(0, random.below(whole.length))]],
    ['fragments never ended', false, fragmentsOf(TEXT, random.between(1, 50), random.between(1, 50))],
    ['empty fragments', false, fragmentsOf(BINARY, 0, random.between(1, 200))],
    ['pings between fragments', false, [{ opcode: TEXT, payload: FRAME, fin: false }, ...pings(random)]],
    ['many pings and pongs', false, [...pings(random), { opcode: 10, payload: FRAME }]],
    ['empty messages', false, [TEXT, BINARY].map((opcode) => ({ opcode, payload: NOTHING }))],
    ['garbage', false, [Buffer.from(Array.from({ length: random.between(1, 300) }, () => random.below(256)))]],
  ];
}

function fragmentsOf(opcode: number, bytes: number, count: number): BareFrame[] {
  const payload = Buffer.alloc(bytes, 'x');
  return Array.from({ length: count }, (_, index) => ({ opcode: index === 0 ? opcode : 0, payload, fin: false }));
}

function pings(random: SeededRandom): BareFrame[] {
  return Array.from({ length: random.between(1, 30) }, () => ({ opcode: PING, payload: FRAME }));
}

const UPGRADE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Invalid upgrade requests. None of them may give a worker connection. */
export function brokenRequest(random: SeededRandom): Buffer {
  const lines = UPGRADE.split('\r\n');
  return Buffer.from(
    random.pick([
      () => UPGRADE.slice(0, random.below(UPGRADE.length - 4)),
      () => UPGRADE.replace('Host: 127.0.0.1', 'X: y'),
      () => UPGRADE.replace('Host: 127.0.0.1', 'Host: evil.example'),
      () => UPGRADE.replace('Host: 127.0.0.1', 'Host: 127.0.0.1.evil.example\r\nHost: 127.0.0.1'),
      () => UPGRADE.replace('GET / ', 'GET /unknown '),
      () => UPGRADE.replace('GET ', random.pick(['POST ', 'get ', '', 'GETT ', '\0'])),
      () => UPGRADE.replace('HTTP/1.1', random.pick(['HTTP/9.9', 'HTTP', 'ICE/1.0', ''])),
      () => UPGRADE.replace('dGhlIHNhbXBsZSBub25jZQ==', random.pick(['', 'x', 'x'.repeat(500)])),
      () => UPGRADE.replace('\r\n\r\n', `\r\nX: ${'y'.repeat(random.pick([20_000, 100_000]))}\r\n\r\n`),
      () => UPGRADE.replace('\r\n\r\n', `\r\n${'X: y\r\n'.repeat(500)}\r\n`),
      () => UPGRADE.replace('GET / ', `GET /${'x'.repeat(40_000)} `),
      () => `${random.shuffle(lines.slice(1)).join('\r\n')}\r\n\r\n`,
      () => '\r\n'.repeat(random.between(1, 100)),
      () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.repeat(20),
      () => String.fromCharCode(...Array.from({ length: 300 }, () => random.below(256))),
    ])(),
    'latin1',
  );
}
