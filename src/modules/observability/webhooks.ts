// Sends alerts to addresses of users: under the rules of outgoing requests, eight at a time, never twice (X16, O4).

import type { OutgoingClient } from '../../effects/outgoing.ts';

export interface WebhookMessage {
  readonly alert: string;
  readonly metric: string;
  readonly value: number;
  readonly threshold: number;
  readonly operator: string;
  readonly timestamp: number;
}

const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const AT_A_TIME_MAX = 8;
const WAITING_MAX = 1_000;

export class Webhooks {
  readonly #outgoing: Pick<OutgoingClient, 'send'>;
  readonly #waiting: (() => void)[] = [];
  #under = 0;

  constructor(outgoing: Pick<OutgoingClient, 'send'>) {
    this.#outgoing = outgoing;
  }

  /** Rejects when it was refused by the rules, by the network, or by the server's answer. */
  async send(url: string, message: WebhookMessage): Promise<void> {
    await this.#enter();
    try {
      const { status } = await this.#outgoing.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(message)),
        timeoutMs: TIMEOUT_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
      });
      if (status < 200 || status > 299) throw new Error(`the server answered with status ${status}`);
    } finally {
      this.#under--;
      this.#waiting.shift()?.();
    }
  }

  async #enter(): Promise<void> {
    if (this.#under >= AT_A_TIME_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} webhooks wait already`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#under++;
  }
}
