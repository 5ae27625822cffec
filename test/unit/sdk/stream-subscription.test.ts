// When a subscription gives up, and when it tries again, on a platform moved by hand.

import { expect, test } from 'vitest';
import { LastingSubscription } from '../../../src/sdk/stream-subscription.ts';
import { FakePlatform, type FakeSocket } from '../../support/fake-platform.ts';

class Setup {
  readonly platform = new FakePlatform();
  readonly errors: string[] = [];
  readonly subscription = new LastingSubscription<unknown>({
    ...{ platform: this.platform, url: 'ws://engine:3112', stream: 's', group: 'g', options: {} },
    handlers: { onError: ({ code }) => this.errors.push(code) },
    onEnded: () => {},
    onThrown: () => {},
  });

  get socket(): FakeSocket {
    const socket = this.platform.sockets.at(-1);
    if (socket === undefined) throw new Error('Nothing was dialled');
    return socket;
  }

  /** Waits for the next dial, as long as one may take. */
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

async function dialled(): Promise<Setup> {
  const setup = new Setup();
  await Promise.resolve();
  return setup;
}

test.each(['OVERLOADED', 'SHUTTING_DOWN', 'STORAGE_UNAVAILABLE'])(
  '[T4] an engine that cannot serve it now with %s is asked again later',
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

test('[T4] whoever was let in before is not sent away while the auth function is on its way back', async () => {
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

test.each([[{ stream: '.' }], [{ group: '..' }], [{ group: '.', options: { item: 'g' } }]])(
  '[X20] with a name that no address can hold, %j, nothing else is watched in its place',
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

test('[SDK-5] what will be the same the next time ends it', async () => {
  const refused = await dialled();
  refused.socket.drop({ httpStatus: 401 });
  expect(refused.errors).toEqual(['UNAUTHORIZED']);
  const tooLarge = await dialled();
  tooLarge.say('error', { code: 'RESULT_TOO_LARGE', message: 'subscribe to items' });
  expect(tooLarge.errors).toEqual(['RESULT_TOO_LARGE']);
});
