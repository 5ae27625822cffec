// The contract of carriers: what carries frames between engines behaves the same, whatever it is made of.

import { describe, expect, test } from 'vitest';
import type { Carrier, Link } from '../../../src/effects/carrier.ts';
import { asByteString } from '../../../src/protocol/json/byte-string.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface CarrierUnderTest {
  readonly name: string;
  /** Nothing is lost between the two, so that one session lasts as long as both are there. */
  readonly hasOneSession?: boolean;
  /** Two carriers that reach each other, of engines with these ids. */
  createPair(): Promise<CarrierPair>;
}

export interface CarrierPair extends AsyncDisposable {
  readonly carriers: readonly [Carrier, Carrier];
  readonly ids: readonly [string, string];
}

/** One end of a link and everything that it reported. */
export class LinkEnd {
  readonly link: Link;
  readonly received: string[] = [];
  readonly downs: string[] = [];
  ups = 0;
  whenUp = (): void => {};

  constructor(carrier: Carrier, peerId: string) {
    this.link = carrier.connect(peerId, {
      up: () => {
        this.ups++;
        this.whenUp();
      },
      down: (reason) => this.downs.push(reason),
      frames: (bytes) => this.received.push(...readFrames(bytes)),
    });
  }

  send(text: string): void {
    this.link.open()?.control(asByteString(text));
  }
}

/** Control frames, whose content is Latin-1. */
function readFrames(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    texts.push(bytes.toString('latin1', at + 8, end));
    at = end;
  }
  return texts;
}

export async function linkPair(pair: CarrierPair): Promise<[LinkEnd, LinkEnd]> {
  const [one, two] = pair.carriers;
  const ends: [LinkEnd, LinkEnd] = [new LinkEnd(one, pair.ids[1]), new LinkEnd(two, pair.ids[0])];
  await waitFor('both ends are up', () => ends.every(({ link }) => link.isUp));
  return ends;
}

export function testCarrier({ name, createPair, hasOneSession = false }: CarrierUnderTest): void {
  describe(`${name}: a carrier`, () => {
    test('[CL8] carries frames both ways, in the order in which they were sent', async () => {
      await using pair = await createPair();
      const [a, b] = await linkPair(pair);
      const texts = Array.from({ length: 500 }, (_, index) => `frame ${index}`);
      for (const text of texts) {
        a.send(text);
        b.send(text.toUpperCase());
      }
      await waitFor('all have arrived', () => a.received.length === 500 && b.received.length === 500);
      expect(b.received).toEqual(texts);
      expect(a.received).toEqual(texts.map((text) => text.toUpperCase()));
      expect([...a.downs, ...b.downs]).toEqual([]);
    });

    test('[CL8] carries a frame larger than one of its messages', async () => {
      await using pair = await createPair();
      const [a, b] = await linkPair(pair);
      const large = 'x'.repeat(3_500_000);
      a.send('before');
      a.send(large);
      a.send('after');
      await waitFor('all have arrived', () => b.received.length === 3);
      expect(b.received.map((text) => text.length)).toEqual([6, large.length, 5]);
    });

    test('[CL10] delivers everything that was sent without room, and offers room again', async () => {
      await using pair = await createPair();
      const [a, b] = await linkPair(pair);
      const text = 'x'.repeat(1024 * 1024);
      for (let count = 0; count < 30; count++) a.send(text);
      await waitFor('there is no room', () => !a.link.hasRoom);
      await waitFor('all have arrived', () => b.received.length === 30);
      await waitFor('there is room', () => a.link.hasRoom);
      expect(a.downs).toEqual([]);
    });

    test.skipIf(hasOneSession)('[CL10] ends a session for which more than 64 MiB would have to wait', async () => {
      await using pair = await createPair();
      const [a] = await linkPair(pair);
      const text = 'x'.repeat(1024 * 1024);
      for (let count = 0; count < 80; count++) a.send(text);
      await waitFor('the session ends', () => a.downs.length === 1);
      await waitFor('there is a new one', () => a.ups === 2);
    });

    test('[CL9] reports the end of the other engine, and sends nothing more', async () => {
      await using pair = await createPair();
      const [a, b] = await linkPair(pair);
      pair.carriers[1].disconnect(pair.ids[0]);
      expect(b.downs).toEqual([expect.stringMatching(/^the \w+ has left$/)]);
      await waitFor('the other end reports it', () => a.downs.length === 1);
      expect(a.link.isUp).toBe(false);
      expect(a.link.open()).toBeUndefined();
    });

    test.skipIf(hasOneSession)('[CL9] ends a session whose frames make no sense, and begins a new one', async () => {
      await using pair = await createPair();
      const [a, b] = await linkPair(pair);
      b.link.refuse('nonsense');
      expect(b.downs).toEqual(['it sent nonsense']);
      await waitFor('the other end reports it', () => a.downs.length === 1);
      await waitFor('both are up again', () => a.ups === 2 && b.ups === 2);
      a.send('again');
      await waitFor('frames arrive again', () => b.received.length === 1);
    });

    test.skipIf(hasOneSession)(
      '[CL9] connects again after a disconnect, with nothing of the session before',
      async () => {
        await using pair = await createPair();
        const [a, b] = await linkPair(pair);
        a.send('first');
        await waitFor('it has arrived', () => b.received.length === 1);
        pair.carriers[1].disconnect(pair.ids[0]);
        a.send('lost');
        const { ups } = a;
        const again = new LinkEnd(pair.carriers[1], pair.ids[0]);
        await waitFor('both are up', () => again.link.isUp && a.link.isUp && a.ups > ups);
        a.send('second');
        await waitFor('it has arrived', () => again.received.length > 0);
        expect(again.received).toEqual(['second']);
      },
    );
  });
}
