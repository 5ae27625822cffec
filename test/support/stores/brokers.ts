// The two brokers that can keep queues, each behind a proxy that can cut its connections.

import { CutProxy } from '../load/cut-proxy.ts';
import { newKeyPrefix, removeKeys } from './ext-store.ts';
import { NO_RABBITMQ, newPrefix, removeBrokerQueues, SHARED_RABBITMQ } from './rabbit-queues.ts';
import { SHARED_REDIS } from './redis-server.ts';

export interface BrokerKind {
  readonly name: 'rabbitmq' | 'extstore';
  /** Why the broker cannot be used here. */
  readonly refusal: string | undefined;
}

export const BROKERS: readonly BrokerKind[] = [
  { name: 'rabbitmq', refusal: NO_RABBITMQ },
  { name: 'extstore', refusal: undefined },
];

export class Broker implements AsyncDisposable {
  readonly proxy: CutProxy;
  readonly #kind: BrokerKind;
  readonly #prefix: string;
  /** Queues to remove, by name, which RabbitMQ needs. */
  readonly #queues: readonly string[];

  private constructor(kind: BrokerKind, proxy: CutProxy, queues: readonly string[]) {
    this.proxy = proxy;
    this.#kind = kind;
    this.#queues = ['default', ...queues];
    this.#prefix = kind.name === 'rabbitmq' ? newPrefix() : newKeyPrefix();
  }

  static async behindProxy(kind: BrokerKind, queues: readonly string[] = []): Promise<Broker> {
    const port = Number(new URL(urlOf(kind)).port);
    return new Broker(kind, await CutProxy.start(port), queues);
  }

  /** The adapter as text for a configuration file. */
  #adapter(isDirect: boolean): string {
    const url = new URL(urlOf(this.#kind));
    if (!isDirect) {
      url.hostname = '127.0.0.1';
      url.port = String(this.proxy.port);
    }
    if (this.#kind.name === 'rabbitmq')
      return `{name: rabbitmq, config: {amqp_url: '${url}', prefix: ${this.#prefix}}}`;
    return `{name: extstore, config: {extstore_url: '${url}', key_prefix: '${this.#prefix}', lease_ms: 2000}}`;
  }

  /** `isDirect`: without the proxy, so that the broker sees how a connection ends. */
  yaml(queues = '{}', { isDirect = false } = {}): string {
    return `drain_timeout_ms: 300
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config: {queue_configs: ${queues}, adapter: ${this.#adapter(isDirect)}}
`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    if (this.#kind.name === 'rabbitmq') await removeBrokerQueues(this.#prefix, this.#queues);
    else await removeKeys(this.#prefix);
  }
}

function urlOf({ name }: BrokerKind): string {
  return name === 'rabbitmq' ? SHARED_RABBITMQ : SHARED_REDIS;
}
