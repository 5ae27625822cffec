// Jobs whose function no worker offers, and messages that wait for a first subscriber: in a queue of their own, from
// which RabbitMQ dead-letters them when their time is over.

import { encodeMessage } from './message.ts';
import type { Mover } from './mover.ts';
import type { Inspector } from './scan.ts';
import type { Topology } from './topology.ts';

/**
 * The limit for one job. Beyond it, the function comes and goes, and the engine that parks its jobs wakes them again.
 */
const COPIES_MAX = 20;

export class ParkedJobs {
  readonly #inspector: Inspector;
  readonly #topology: Topology;
  readonly #mover: Mover;

  constructor(inspector: Inspector, topology: Topology, mover: Mover) {
    this.#inspector = inspector;
    this.#topology = topology;
    this.#mover = mover;
  }

  async functions(queue: string): Promise<string[]> {
    const found = new Set<string>();
    await this.#inspector.each(this.#topology.names.parked(queue), {
      judge: ({ message }) => {
        found.add(message.job.facts.functionId);
        return 'kept';
      },
    });
    return [...found];
  }

  /**
   * Moves the parked jobs of the function back. Each is in its new place before it leaves the old one.
   *
   * An engine that was killed while it parked a job leaves a copy for each time, because a message is confirmed at its
   * new place before it is acknowledged at the old one. One inspection takes one of the copies: any other looks to it
   * like the same job parked again.
   */
  async wake(queue: string, functionId: string): Promise<number> {
    let woken = 0;
    for (let copy = 0; copy < COPIES_MAX; copy++) {
      let found = 0;
      const taken = await this.#inspector.each(this.#topology.names.parked(queue), {
        judge: ({ message }) => {
          if (message.job.facts.functionId !== functionId) return 'kept';
          found++;
          return 'taken';
        },
        move: ({ message: { job, payload } }) => this.#mover.now(queue, encodeMessage(job, payload)),
      });
      woken += taken;
      if (taken === found) break;
    }
    return woken;
  }

  /** Messages that do not fit stay where they are. */
  async handTo(from: string, to: string, functionId: string, hasRoom: () => boolean): Promise<number> {
    return await this.#inspector.each(this.#topology.names.parked(from), {
      judge: () => (hasRoom() ? 'taken' : 'kept, and enough'),
      move: ({ message }) => {
        const { isKept: _isKept, ...job } = message.job;
        const facts = { ...job.facts, functionId };
        return this.#mover.now(to, encodeMessage({ ...job, facts }, message.payload));
      },
    });
  }
}
