import { describe, expect, test } from 'vitest';
import { type Arrival, LinkSession, WINDOW_BYTES } from '../../../../src/core/cluster/link-session.ts';
import { LINK_KIND, type LinkHeader } from '../../../../src/protocol/cluster/link-message.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

interface Sent {
  readonly header: LinkHeader;
  readonly bytes: number;
  /** Counts all frames of one direction, to compare what arrived. */
  readonly frame: number;
}

/** One engine, its way to the other, and what it took in the present session. */
class Side {
  readonly session: LinkSession;
  readonly outbox: Sent[] = [];
  taken: number[] = [];
  sentInSession: number[] = [];
  frames = 0;

  constructor(random: SeededRandom) {
    this.session = new LinkSession(() => random.between(1, 2 ** 31));
  }

  ask(): void {
    this.send(LINK_KIND.ask);
  }

  send(kind: number): void {
    const header = { ...this.session.header(kind), flags: 0, callsInFlight: 0 };
    this.outbox.push({ header, bytes: 0, frame: 0 });
  }

  sendFrames(bytes: number): void {
    const frame = ++this.frames;
    this.sentInSession.push(frame);
    this.outbox.push({ header: { ...this.session.next(bytes), flags: 0, callsInFlight: 0 }, bytes, frame });
  }

  receive({ header, bytes, frame }: Sent): Arrival {
    const wasUp = this.session.isUp;
    let arrival = this.session.take(header, bytes);
    if (arrival === 'over') {
      this.end();
      arrival = this.session.take(header, 0);
    }
    if (!wasUp && this.session.isUp) {
      this.taken = [];
      this.sentInSession = [];
      this.send(LINK_KIND.report);
    }
    if (arrival === 'taken' && header.kind === LINK_KIND.frames) this.taken.push(frame);
    if (header.kind === LINK_KIND.ask) this.send(LINK_KIND.answer);
    return arrival;
  }

  end(): void {
    this.session.end();
    this.taken = [];
    this.sentInSession = [];
  }

  tick(nowMs: number): void {
    if (this.session.tick(nowMs, false) !== undefined) this.end();
    this.ask();
  }
}

function exchange(a: Side, b: Side, isLost: () => boolean): void {
  for (let rounds = 0; rounds < 8; rounds++) {
    for (const sent of a.outbox.splice(0)) if (!isLost()) b.receive(sent);
    for (const sent of b.outbox.splice(0)) if (!isLost()) a.receive(sent);
  }
}

function connected(random: SeededRandom): [Side, Side] {
  const pair: [Side, Side] = [new Side(random), new Side(random)];
  for (const side of pair) side.ask();
  exchange(...pair, () => false);
  return pair;
}

describe('a session between two engines', () => {
  test('[CL8] is up on both sides after one of them asked', () => {
    forEachSeed(20, (random) => {
      const [a, b] = [new Side(random), new Side(random)];
      a.ask();
      exchange(a, b, () => false);
      expect([a.session.isUp, b.session.isUp]).toEqual([true, true]);
    });
  });

  test('[CL8] frames arrive in the order in which they were sent, without a gap, whatever is lost', () => {
    forEachSeed(200, (random) => {
      const [a, b] = connected(random);
      for (let step = 0; step < 60; step++) {
        for (const side of [a, b]) if (side.session.isUp && random.chance(70)) side.sendFrames(random.between(1, 100));
        exchange(a, b, () => random.chance(5));
        if (random.chance(20)) for (const side of [a, b]) side.tick(step * 1_000);
        // What one has taken in the session is the beginning of what the other has sent in it, or the session differs.
        const [first = 0] = b.taken;
        expect(b.taken).toEqual(Array.from({ length: b.taken.length }, (_, index) => first + index));
      }
      // Nothing is lost any more: both find one session, and frames pass again.
      for (let step = 0; step < 6; step++) {
        for (const side of [a, b]) side.tick(100_000 + step * 1_000);
        exchange(a, b, () => false);
      }
      expect([a.session.isUp, b.session.isUp]).toEqual([true, true]);
      a.sendFrames(10);
      exchange(a, b, () => false);
      expect(b.taken.at(-1)).toBe(a.frames);
    });
  });

  test('[CL9] a lost message ends the session at the next message with frames', () => {
    forEachSeed(10, (random) => {
      const [a, b] = connected(random);
      a.sendFrames(1);
      a.outbox.length = 0;
      a.sendFrames(1);
      const [second] = a.outbox;
      if (second === undefined) throw new Error('nothing was sent');
      expect(b.session.take(second.header, 1)).toBe('over');
    });
  });

  test('[CL9] a lost message without a successor is found by the second ask', () => {
    forEachSeed(10, (random) => {
      const [a, b] = connected(random);
      a.sendFrames(1);
      a.outbox.length = 0;
      a.ask();
      exchange(a, b, () => false);
      expect(b.session.tick(1_000, false)).toBe('a message was lost');
    });
  });

  test('[CL9] two asks without an answer end it', () => {
    forEachSeed(10, (random) => {
      const [a] = connected(random);
      expect(a.session.tick(1_000, false)).toBeUndefined();
      expect(a.session.tick(2_000, false)).toBeUndefined();
      expect(a.session.tick(3_000, false)).toBe('it did not answer');
    });
  });

  test('[CL9] five seconds without room end it, and room in between does not', () => {
    forEachSeed(10, (random) => {
      const [a, b] = connected(random);
      const pass = (nowMs: number, hasWaiting: boolean) => {
        const end = a.session.tick(nowMs, hasWaiting);
        a.ask();
        exchange(a, b, () => false);
        return end;
      };
      for (let nowMs = 1_000; nowMs < 6_000; nowMs += 1_000) expect(pass(nowMs, true)).toBeUndefined();
      a.session.moved();
      for (let nowMs = 6_000; nowMs < 11_000; nowMs += 1_000) expect(pass(nowMs, true)).toBeUndefined();
      expect(pass(11_000, true)).toBe('it does not read');
    });
  });

  test('[CL10] there is room for the window, and again when the other engine reports what it read', () => {
    forEachSeed(10, (random) => {
      const [a, b] = connected(random);
      a.sendFrames(WINDOW_BYTES - 10);
      expect([a.session.hasRoom(10), a.session.hasRoom(11)]).toEqual([true, false]);
      exchange(a, b, () => false);
      b.send(LINK_KIND.report);
      exchange(a, b, () => false);
      expect(a.session.hasRoom(WINDOW_BYTES)).toBe(true);
    });
  });

  test('[CL10] one message larger than the window may be sent alone', () => {
    forEachSeed(5, (random) => {
      const [a] = connected(random);
      expect(a.session.hasRoom(2 * WINDOW_BYTES)).toBe(true);
    });
  });
});
