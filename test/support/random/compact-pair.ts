// Both ends of the compact form and the table of shapes between them, without an engine.

import { CompactPayloads } from '../../../src/core/calls/compact-payloads.ts';
import { CompactDecoder } from '../../../src/protocol/payload/compact-decode.ts';
import { CompactEncoder } from '../../../src/protocol/payload/compact-encode.ts';
import { nodeMemory } from '../../../src/sdk/node/memory-node.ts';

export class CompactPair {
  readonly form = new CompactPayloads();
  readonly shapes = this.form.shapes;
  readonly #asked: string[] = [];
  readonly #encoder = new CompactEncoder(nodeMemory, (keyList) => this.#asked.push(keyList));
  readonly decoder = new CompactDecoder(nodeMemory, (number) => this.shapes.shape(number));

  /** A copy of the payload; undefined if the value must be sent as JSON. */
  encode(value: unknown): Buffer | undefined {
    this.#encoder.release();
    const payload = this.#encoder.encode(value);
    if (payload === undefined) return undefined;
    return Buffer.from(this.#encoder.memory.slice(payload.start, payload.start + payload.length));
  }

  decode(payload: Buffer): unknown {
    return this.decoder.decode(payload, 0, payload.length);
  }

  /** Assigns numbers to the shapes that the encoder has requested; returns the key lists. */
  answer(): string[] {
    const asked = this.#asked.splice(0);
    for (const keyList of asked) {
      const number = this.shapes.numberOf(keyList) ?? -1;
      const shape = this.shapes.shape(number);
      if (shape !== undefined) this.#encoder.learn(shape, number);
    }
    return asked;
  }
}
