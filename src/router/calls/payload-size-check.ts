// Functions of the engine that any client may call and that need only a small payload refuse a large one before it is
// parsed: parsing blocks the router's thread, and with it every other caller. Refusals are counted, and reported once a
// second.

import { Refusal } from '../../core/calls/refusal.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Payload } from '../../protocol/payload/payload.ts';

/** Bytes of a payload as JSON. */
export interface PayloadLimits {
  /** The caller is a connection with rights. */
  readonly restricted: number;
  readonly trusted: number;
}

/** Of a call of a function of the engine, what its check needs. */
interface CheckedCall {
  readonly functionId: string;
  readonly data: Payload | undefined;
  /** Set for a caller that may not do everything. */
  readonly rights: object | undefined;
  readonly from: { readonly displayName: string } | undefined;
  readonly forwardedFor?: { readonly name?: string } | undefined;
}

export interface PayloadSizeCheckOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: { count(name: string, reason: string): void };
}

interface Refused {
  calls: number;
  largestBytes: number;
  lastCaller: string;
}

const REPORT_MS = 1_000;

export class PayloadSizeCheck {
  readonly #options: PayloadSizeCheckOptions;
  /** Refusals since the last report, by function of the engine. */
  readonly #refused = new Map<string, Refused>();

  constructor(options: PayloadSizeCheckOptions) {
    this.#options = options;
  }

  refusalOf({ restricted, trusted }: PayloadLimits, call: CheckedCall): Refusal | undefined {
    const { data, rights, functionId, from, forwardedFor } = call;
    const bytesMax = rights === undefined ? trusted : restricted;
    if (data === undefined || !data.isLongerThan(bytesMax)) return undefined;
    this.#note(functionId, data.byteLength, from?.displayName ?? forwardedFor?.name ?? 'the engine');
    const whose = rights === undefined ? '' : ' for a connection of a port with rbac';
    const text = `The payload takes more than ${bytesMax} bytes as JSON, the limit of ${functionId}${whose}; send less`;
    return new Refusal('PAYLOAD_TOO_LARGE', text);
  }

  #note(functionId: string, bytes: number, caller: string): void {
    this.#options.counters.count('payloads.refused', functionId);
    if (this.#refused.size === 0) this.#options.clock.after(REPORT_MS, () => this.#report());
    const refused = this.#refused.get(functionId) ?? { calls: 0, largestBytes: 0, lastCaller: '' };
    this.#refused.set(functionId, refused);
    refused.calls++;
    refused.largestBytes = Math.max(refused.largestBytes, bytes);
    refused.lastCaller = caller;
  }

  #report(): void {
    for (const [functionId, { calls, largestBytes, lastCaller }] of this.#refused) {
      this.#options.logger.warn('Calls of a function of the engine were refused: their payloads are over its limit', {
        function_id: functionId,
        calls,
        largest_bytes: largestBytes,
        last_caller: lastCaller,
      });
    }
    this.#refused.clear();
  }
}
