import { expect, test } from 'vitest';
import { Link } from '../../../../src/sdk/connection/link.ts';
import { JsonWire } from '../../../../src/sdk/wire/json-wire.ts';
import { FakeClock, FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { deliveredCall, encoded, madeCall } from '../calls/made-calls.ts';

function setUp() {
  const clock = new FakeClock();
  const events = { onMessage() {}, onAlive() {}, onClose() {} };
  const request = {
    purpose: 'worker' as const,
    url: 'ws://x',
    subprotocols: ['svc.json.v1'],
    headers: {},
    messageBytesMax: 1,
  };
  const socket = new FakeSocket(request, events);
  const link = new Link({ workerId: 'w-1', socket, wire: new JsonWire(socket, () => {}), clock, frameBytesMax: 2_000 });
  return { clock, socket, link };
}

test('[SDK-7] messages of one turn leave at its end, in order and in one write', () => {
  const { clock, socket, link } = setUp();
  for (const message of ['{"at":1}', '{"at":2}', '{"at":3}']) link.sendFrame(message);
  expect(socket.writes).toBe(0);
  clock.endTurn();
  expect(socket.writes).toBe(1);
  expect(socket.take()).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }]);
  clock.endTurn();
  expect(socket.writes).toBe(1);
  link.sendFrame('{"at":4}');
  clock.endTurn();
  expect(socket.take()).toEqual([{ at: 4 }]);
});

test('[SDK-7] a long batch leaves at once, and the rest at the end of the turn', () => {
  const { clock, socket, link } = setUp();
  for (let at = 0; at < 3; at++) link.sendFrame(JSON.stringify('x'.repeat(40_000)));
  expect(socket.writes).toBe(1);
  clock.endTurn();
  expect(socket.writes).toBe(2);
});

test('[SDK-7] of many short messages 32 leave at once, and the rest at the end of the turn', () => {
  const { clock, socket, link } = setUp();
  for (let at = 0; at < 70; at++) link.sendFrame(`{"at":${at}}`);
  expect(socket.writes).toBe(2);
  expect(socket.take()).toHaveLength(64);
  clock.endTurn();
  expect(socket.writes).toBe(3);
  expect(socket.take()).toHaveLength(6);
});

test('[W4] gathered messages are dropped when the connection is lost', () => {
  const { clock, socket, link } = setUp();
  link.sendFrame('{"at":1}');
  link.drop();
  clock.endTurn();
  expect(socket.writes).toBe(0);
});

test('[W4] nothing is sent on a lost connection', () => {
  const { clock, socket, link } = setUp();
  link.drop();
  expect(link.isUp).toBe(false);
  link.sendFrame('{"at":1}');
  link.sendCall(madeCall());
  link.sendResult(deliveredCall(), undefined);
  link.sendError(deliveredCall(), { code: 'X', message: 'x' });
  link.flush();
  clock.endTurn();
  expect(socket.writes).toBe(0);
});

test('[SDK-7] a message over the limit of bytes is detected before it is sent', () => {
  const { clock, socket, link } = setUp();
  const call = (letters: number) => madeCall({ data: encoded('é'.repeat(letters)) });
  expect(link.overlongCallBytes(call(900))).toBeUndefined();
  expect(link.overlongCallBytes(call(1_000))).toBeGreaterThan(2_000);
  expect(link.overlongAnswerBytes(deliveredCall(), encoded('é'.repeat(900)))).toBeUndefined();
  expect(link.overlongAnswerBytes(deliveredCall(), encoded('é'.repeat(1_000)))).toBeGreaterThan(2_000);
  link.sendError(deliveredCall(), { code: 'X', message: 'é'.repeat(1_000) });
  clock.endTurn();
  expect(socket.take()).toMatchObject([{ error: { code: 'PAYLOAD_TOO_LARGE' } }]);
});

test('[SDK-7] a connection counts as congested until its buffer has fallen below the limit again', () => {
  const { socket, link } = setUp();
  const limit = 16 * 1024 * 1024;
  socket.buffered = limit + 1;
  expect(link.isCongested()).toBe(false);
  link.sendFrame('{}');
  link.flush();
  expect(link.isCongested()).toBe(true);
  socket.buffered = limit;
  expect(link.isCongested()).toBe(false);
});
