// Fault 66: of three RabbitMQ nodes one is killed, or loses all packets. Two engines, which name the nodes in different
// orders, continue with the others: no confirmed job is lost, and jobs of a fifo group keep their order.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { Network, networkRefusal } from '../../support/cluster/network.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, isSkipped, rounds } from '../../support/load/fault-tools.ts';
import { JobLedger } from '../../support/stores/job-ledger.ts';
import { enqueue, statsOf } from '../../support/stores/queue-engine.ts';
import { RabbitNodes } from '../../support/stores/rabbit-nodes.ts';
import { NO_RABBITMQ_SERVER } from '../../support/stores/rabbit-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const NODES = 3;
const STRIKES = rounds(2);
const PRODUCERS = 8;
const GROUPS = 4;
const AHEAD_MAX = 20;
/** 10 s on a machine that is not busy (9.4), and more if RabbitMQ leaves an operation without an answer. */
const RESUME_MS_MAX = 60_000;
const REFUSAL = NO_RABBITMQ_SERVER ?? networkRefusal();

interface Order {
  readonly group: string;
  readonly n: number;
}

/** Orders of groups, each sent after the answer about the one before, and which of them ran, in order. */
class OrderLedger {
  readonly #confirmed = new Map<string, number[]>();
  readonly #ran = new Map<string, number[]>();
  /** Continues a group that is far ahead of its handler. */
  readonly #waiting = new Map<string, () => void>();

  /** Until the connection ends. */
  produce(producer: RawWorker, groups: readonly string[]): void {
    // The connection ended: no producer has a receipt for its last order.
    for (const group of groups) this.#produceGroup(producer, group).catch(() => {});
  }

  async #produceGroup(producer: RawWorker, group: string): Promise<void> {
    const [confirmed, ran]: [number[], number[]] = [[], []];
    this.#confirmed.set(group, confirmed);
    this.#ran.set(group, ran);
    for (let n = 0; ; n++) {
      const { error } = await enqueue(producer, 'order', { group, n }, { queue: 'orders' });
      if (error === undefined) confirmed.push(n);
      if (confirmed.length - ran.length < AHEAD_MAX) continue;
      await new Promise<void>((resolve) => this.#waiting.set(group, resolve));
    }
  }

  async serve(worker: RawWorker): Promise<void> {
    await worker.serve('order', (data) => {
      const { group, n } = data as Order;
      this.#ran.get(group)?.push(n);
      this.#waiting.get(group)?.();
      return null;
    });
  }

  get doneCount(): number {
    return [...this.#ran.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Groups with a confirmed order that did not run, or ran after a later one. A repetition of the last one is none. */
  get broken(): string[] {
    return [...this.#confirmed].flatMap(([group, confirmed]) => {
      const known = new Set(confirmed);
      const ran = (this.#ran.get(group) ?? []).filter((n) => known.has(n));
      const order = ran.filter((n, index) => n !== ran[index - 1]);
      return JSON.stringify(order) === JSON.stringify(confirmed) ? [] : [group];
    });
  }
}

test.skipIf(isSkipped('66', REFUSAL))(
  '[Q1] [K3] [F1] [fault 66] A RabbitMQ that loses a node loses no confirmed job, and fifo groups keep their order',
  { timeout: 180_000 + STRIKES * 90_000 },
  async () => {
    const line = faultLine('66', 'lost broker node', `lost=0,out of order=0,resume<=${RESUME_MS_MAX}ms`);
    const random = faultRandom('66');
    using network = new Network();
    await using nodes = await RabbitNodes.start(network, NODES);
    const [first = '', ...others] = nodes.urls;
    await using engineA = await startTestEngine({ yaml: yamlOf([first, ...others]) });
    await using engineB = await startTestEngine({ yaml: yamlOf([...others, first]) });
    const [jobs, orders] = [new JobLedger(), new OrderLedger()];
    await using workerA = await RawWorker.connect(engineA.url);
    await using workerB = await RawWorker.connect(engineB.url);
    for (const worker of [workerA, workerB]) {
      await jobs.serve(worker, 'job');
      await orders.serve(worker);
    }
    await using producerA = await RawWorker.connect(engineA.url);
    await using producerB = await RawWorker.connect(engineB.url);
    for (const [index, producer] of [producerA, producerB].entries()) {
      jobs.produce(producer, 'job', PRODUCERS, { goesOn: true });
      const groups = Array.from({ length: GROUPS }, (_, group) => `${index}-${group}`);
      orders.produce(producer, groups);
    }
    let resumeMs = 0;
    for (let strike = 0; strike < STRIKES; strike++) {
      const [jobGoal, orderGoal] = [jobs.ends.size + random.between(50, 400), orders.doneCount + random.between(1, 50)];
      const isAtWork = () => jobs.ends.size >= jobGoal && orders.doneCount >= orderGoal;
      await waitFor('jobs come and go', isAtWork, 60_000);
      const node = strike % NODES;
      // Cut off first: a node that is killed within a second after a queue was made may lose its part of it (fault 55).
      const isKill = strike % 2 === 1;
      if (isKill) await nodes.kill(node);
      else nodes.cut(node);
      const struckMs = performance.now();
      await Promise.all([producerA, producerB].map((producer) => jobs.passes(producer, 'job', RESUME_MS_MAX)));
      const ordersGoal = orders.doneCount + 1;
      await waitFor('orders are run again', () => orders.doneCount >= ordersGoal, RESUME_MS_MAX);
      resumeMs = Math.max(resumeMs, performance.now() - struckMs);
      await nodes.missed(node);
      if (isKill) await nodes.restart(node);
      else nodes.reconnect(node);
      await nodes.whole();
    }
    for (const producer of [producerA, producerB]) producer.close();
    const lost = await jobs.lost(workerA);
    await waitFor('all orders ran', async () => (await statsOf(workerA, 'orders')).depth === 0, 60_000);
    const { broken } = orders;
    line.figure = `lost=${lost.length},out of order=${broken.length},resume=${Math.round(resumeMs)}ms`;
    expect({ lost, broken }).toEqual({ lost: [], broken: [] });
  },
);

function yamlOf(urls: readonly string[]): string {
  return `drain_timeout_ms: 300
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config:
      queue_configs: {orders: {type: fifo, message_group_field: group}}
      adapter: {name: rabbitmq, config: {amqp_url: [${urls.map((url) => `'${url}'`).join(', ')}]}}
`;
}
