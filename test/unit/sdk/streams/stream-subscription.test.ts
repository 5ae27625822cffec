// When a subscription gives up, and when it dials again, on a platform that the test controls.

import { expect, test } from 'vitest';
import {
  LastingSubscription,
  type StreamHandlers,
  type SubscribeOptions,
} from '../../../../src/sdk/streams/stream-subscription.ts';
import { FakePlatform, type FakeSocket } from '../../../support/fakes/fake-platform.ts';

interface Setting {
  readonly options?: SubscribeOptions;
  readonly handlers?: StreamHandlers<unknown>;
}

class Setup {
  readonly platform = new FakePlatform();
  readonly errors: string[] = [];
  readonly subscription: LastingSubscription<unknown>;

  constructor({ options = {}, handlers = {} }: Setting) {
    this.subscription = new LastingSubscription<unknown>({
      ...{ platform: this.platform, url: 'ws://engine:3112', stream: 's', group: 'g', options },
      handlers: { onError: ({ code }) => this.errors.push(code), ...handlers },
      onEnded: () => {},
      onThrown: () => {},
    });
  }

  get socket(): FakeSocket {
    const socket = this.platform.sockets.at(-1);
    if (socket === undefined) throw new Error('Nothing was dialled');
    return socket;
  }

  /** Waits for the next dial, up to the longest wait. */
  async redial(): Promise<void> {
    const before = this.platform.sockets.length;
    this.platform.clock.advance(60_000);
    await Promise.resolve();
    expect(this.platform.sockets.length).toBeGreaterThan(before);
  }

  say(type: string, data?: unknown): void {
    this.socket.say({ type: 'stream', timestamp: 1, id: null, seq: 1, epoch: 'e', event: { type, data } });
  }
}

async function dialled(setting: Setting = {}): Promise<Setup> {
  const setup = new Setup(setting);
  await Promise.resolve();
  return setup;
}

test.each(['OVERLOADED', 'SHUTTING_DOWN', 'STORAGE_UNAVAILABLE'])(
  '[T4] an engine that refuses it for now with %s is dialled again later',
  async (code) => {
    const setup = await dialled();
    setup.say('error', { code, message: 'not now' });
    await setup.redial();
    setup.say('sync', []);
    await setup.subscription.ready();
    expect(setup.errors).toEqual([]);
    setup.subscription.close();
  },
);

test('[T4] a subscription that was accepted before survives a restart of the auth function', async () => {
  const setup = await dialled();
  setup.say('sync', []);
  setup.socket.drop();
  await setup.redial();
  setup.socket.drop({ httpStatus: 401 });
  await setup.redial();
  setup.say('sync', []);
  expect(setup.errors).toEqual([]);
  setup.subscription.close();
});

test('[T5] only dials with `conflate` ask for it', async () => {
  const setup = await dialled({ options: { conflate: true } });
  setup.say('sync', []);
  setup.socket.drop();
  await setup.redial();
  expect([...new Set(setup.platform.sockets.map(({ request }) => request.url))]).toEqual([
    'ws://engine:3112/stream/s/g/?conflate=true',
    'ws://engine:3112/stream/s/g/?epoch=e&seq=1&conflate=true',
  ]);
  setup.subscription.close();
  expect((await dialled()).socket.request.url).toBe('ws://engine:3112/stream/s/g/');
});

test('[T2] [T5] skipped events are reported with the next event, and are not a gap', async () => {
  const reported: object[] = [];
  const syncs: boolean[] = [];
  const handlers: StreamHandlers<unknown> = {
    onSync: (_items, { isGap }) => void syncs.push(isGap),
    onChange: ({ timestamp: _, ...change }) => void reported.push(change),
    onEvent: ({ timestamp: _, ...event }) => void reported.push(event),
  };
  const { socket, platform, subscription } = await dialled({ options: { conflate: true }, handlers });
  const place = { type: 'stream', timestamp: 1, epoch: 'e' };
  socket.say({ ...place, id: null, seq: 1, event: { type: 'sync', data: ['old'], ids: ['a'] } });
  // The creation of `b` was skipped, and so was the deletion of `a`.
  socket.say({ ...place, id: 'b', seq: 5, conflated: 3, event: { type: 'update', data: 'b' } });
  socket.say({ ...place, id: 'a', seq: 6, event: { type: 'create', data: 'new' } });
  socket.say({ ...place, id: null, seq: 9, conflated: 2, event: { type: 'event', event: { type: 'e', data: 1 } } });
  socket.say({ ...place, id: 'c', seq: 11, conflated: 1, event: { type: 'delete', data: 'c' } });
  expect(reported).toEqual([
    { type: 'create', id: 'b', data: 'b', seq: 5, conflated: 3 },
    { type: 'update', id: 'a', data: 'new', seq: 6 },
    { type: 'e', id: null, data: 1, seq: 9, conflated: 2 },
    { type: 'delete', id: 'c', data: 'c', seq: 11, conflated: 1 },
  ]);
  expect([...subscription.items]).toEqual([
    ['a', 'new'],
    ['b', 'b'],
  ]);
  expect([syncs, platform.sockets.length]).toEqual([[false], 1]);
  subscription.close();
});

test.each([[{ stream: '.' }], [{ group: '..' }], [{ group: '.', options: { item: 'g' } }]])(
  '[X20] a name that no address can hold, %j, is refused',
  (names) => {
    const platform = new FakePlatform();
    const errors: string[] = [];
    new LastingSubscription<unknown>({
      ...{ platform, url: 'ws://engine:3112', stream: 's', group: 'g', options: {}, ...names },
      handlers: { onError: ({ code }) => errors.push(code) },
      onEnded: () => {},
      onThrown: () => {},
    });
    expect(errors).toEqual(['BAD_REQUEST']);
    expect(platform.sockets).toEqual([]);
  },
);

test('[SDK-5] a permanent refusal ends it', async () => {
  const refused = await dialled();
  refused.socket.drop({ httpStatus: 401 });
  expect(refused.errors).toEqual(['UNAUTHORIZED']);
  const tooLarge = await dialled();
  tooLarge.say('error', { code: 'RESULT_TOO_LARGE', message: 'subscribe to items' });
  expect(tooLarge.errors).toEqual(['RESULT_TOO_LARGE']);
});
