// Two engines in memory with a session between them, whose frames the test passes on.

import type { Link } from '../../../src/effects/carrier.ts';
import { MessageBuffer } from '../../../src/protocol/binary/binary-messages.ts';
import { settleCallsOf } from '../../../src/router/remote/relayed-calls.ts';
import { RemoteEngine } from '../../../src/router/remote/remote-engine.ts';
import { ServeFrames } from '../../../src/router/remote/serve-frames.ts';
import { EngineInMemory } from '../engine/engine-in-memory.ts';
import { SeededRandom } from '../random/seeded-random.ts';

class LinkInMemory implements Link {
  isUp = true;
  hasRoom = true;
  isDraining = false;
  callsInFlight = 0;
  trouble = 'the test says so';
  readonly refused: string[] = [];
  readonly frames = new MessageBuffer();

  open(): MessageBuffer | undefined {
    return this.isUp ? this.frames : undefined;
  }

  refuse(reason: string): void {
    this.refused.push(reason);
  }
}

/** One engine, and how it sees the other. */
export class LinkedEngine {
  readonly engine: EngineInMemory;
  readonly link = new LinkInMemory();
  readonly other: RemoteEngine;
  readonly serve: ServeFrames;

  constructor(otherId: string, seed: number) {
    this.engine = new EngineInMemory({ settings: { isInCluster: true }, random: new SeededRandom(seed) });
    const { context } = this.engine;
    this.other = new RemoteEngine(otherId, undefined, context.compact);
    this.other.attach(this.link);
    this.serve = new ServeFrames(context, this.other);
  }

  /** It passes ends of the other engine's channels on. */
  passesOnTo({ engine }: LinkedEngine): void {
    const { home = '' } = engine.context.channels;
    this.engine.context.channels.addHome(home, this.serve.channels);
  }

  /** The other engine reaches the function. */
  reaches(functionId: string): void {
    this.engine.context.functions.offerRemotely(functionId, {
      engine: this.other,
      metadata: undefined,
      order: 1,
      trust: 'trusted',
    });
  }

  /** The session has ended. */
  lose(): void {
    this.link.isUp = false;
    this.other.sessionChanged();
    this.serve.channels.end();
    settleCallsOf(this.engine.context, this.other, 'lost');
  }
}

export class LinkedPair implements Disposable {
  readonly a = new LinkedEngine('b', 1);
  readonly b = new LinkedEngine('a', 2);

  constructor() {
    this.a.passesOnTo(this.b);
    this.b.passesOnTo(this.a);
  }

  /** Passes frames in both directions until none are left. */
  pass(): void {
    for (let moved = true; moved; ) {
      this.a.engine.flush();
      this.b.engine.flush();
      moved = passFrames(this.a, this.b) || passFrames(this.b, this.a);
    }
  }

  [Symbol.dispose](): void {
    this.a.engine.stop();
    this.b.engine.stop();
  }
}

function passFrames(from: LinkedEngine, to: LinkedEngine): boolean {
  const { frames } = from.link;
  if (frames.length === 0) return false;
  const bytes = Buffer.from(frames.view());
  frames.clear();
  to.serve.receive(bytes);
  return true;
}
