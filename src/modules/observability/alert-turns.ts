// Which engine of a cluster acts for an alert rule. All engines compare the same sums, so all find at about the same
// time that a rule holds.
//
// The cluster remembers when a rule last acted, and one engine can replace that time. An engine that cannot, because
// NATS is away, acts on its own: an alert twice is better than none.

import { type AlertRule, isCool } from '../../core/telemetry/metrics/alert-rules.ts';
import type { ClusterView, SharedKeysView } from '../module.ts';

export class AlertTurns {
  readonly #cluster: Pick<ClusterView, 'keys'>;
  readonly #failed: (rule: string, error: unknown) => void;
  #keys: Promise<SharedKeysView> | undefined;

  constructor(cluster: Pick<ClusterView, 'keys'>, failed: (rule: string, error: unknown) => void) {
    this.#cluster = cluster;
    this.#failed = failed;
  }

  /** Whether this engine acts now. Otherwise: when another one last did, in Unix milliseconds. */
  async take({ name, cooldownSeconds }: AlertRule, nowMs: number): Promise<true | number> {
    let lastMs = nowMs;
    const next = (text: string | undefined): string | undefined => {
      lastMs = text === undefined ? 0 : Number(text);
      return text === undefined || isCool(lastMs, cooldownSeconds * 1_000, nowMs) ? String(nowMs) : undefined;
    };
    try {
      this.#keys ??= this.#cluster.keys('schedules');
      const keys = await this.#keys;
      if (await keys.exchange(next, 'alert', name)) return true;
      // Another engine was faster.
      return isCool(lastMs, cooldownSeconds * 1_000, nowMs) ? nowMs : lastMs;
    } catch (error) {
      this.#keys = undefined;
      this.#failed(name, error);
      return true;
    }
  }
}
