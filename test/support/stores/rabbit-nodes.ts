// A RabbitMQ of several nodes, each on a machine of its own, with the settings that docs/operations/cluster.md advises.

import type { Machine } from '../cluster/machine.ts';
import type { Network } from '../cluster/network.ts';
import { waitFor } from '../wait-for.ts';
import { RabbitServer, rabbitNodeName } from './rabbit-server.ts';

interface Node {
  readonly machine: Machine;
  readonly server: RabbitServer;
}

const ADVANCED = '[{kernel, [{net_ticktime, 5}, {net_setuptime, 2}]}].';
const RUNNING = 'length(rabbit_mnesia:cluster_nodes(running))';
/** Those that the loss of one more node would end. */
const CRITICAL_QUEUES = 'length(rabbit_quorum_queue:list_with_minimum_quorum())';

export class RabbitNodes implements AsyncDisposable {
  readonly #nodes: readonly Node[];

  private constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
  }

  static async start(network: Network, count: number): Promise<RabbitNodes> {
    const places = Array.from({ length: count }, () => {
      const machine = network.addMachine();
      const ports = { port: 5672, nodesPort: 25_672, namesPort: 4_369 };
      return { machine, ...ports, host: machine.address, entrance: machine.entrance };
    });
    const settings = [
      // The guest of RabbitMQ is for connections from its own machine.
      'loopback_users = none',
      'cluster_partition_handling = pause_minority',
      'cluster_formation.peer_discovery_backend = classic_config',
      ...places.map((place, index) => `cluster_formation.classic_config.nodes.${index + 1} = ${rabbitNodeName(place)}`),
    ];
    const nodes = new RabbitNodes(
      places.map(({ machine, ...place }) => ({
        machine,
        server: new RabbitServer({ ...place, settings, advanced: ADVANCED }),
      })),
    );
    await Promise.all(nodes.#nodes.map(({ server }) => server.start()));
    return nodes;
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ server }) => server.url);
  }

  async kill(index: number): Promise<void> {
    await this.#nodes[index]?.server.stop('SIGKILL');
  }

  /** With its data; it accepts connections when this resolves. */
  async restart(index: number): Promise<void> {
    await this.#nodes[index]?.server.start();
  }

  /** Until the others have noticed that this one is gone. */
  async missed(index: number): Promise<void> {
    const [other] = this.#nodes.filter((_, at) => at !== index);
    await this.#become(other, `${RUNNING} < ${this.#nodes.length}`, 'the node is missed');
  }

  /** Until all nodes run, and all members of each queue. */
  async whole(): Promise<void> {
    const expression = `${RUNNING} == ${this.#nodes.length} andalso ${CRITICAL_QUEUES} == 0`;
    await this.#become(this.#nodes[0], expression, 'the nodes are together again');
  }

  async #become(node: Node | undefined, expression: string, what: string): Promise<void> {
    const isSo = async () => (await node?.server.ask(`${expression}.`).catch(() => '')) === 'true';
    // RabbitMQ on a busy machine needs more than a minute to take a node in again.
    await waitFor(what, isSo, 120_000);
  }

  cut(index: number): void {
    this.#nodes[index]?.machine.cut();
  }

  reconnect(index: number): void {
    this.#nodes[index]?.machine.reconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server, machine } of this.#nodes) {
      await server[Symbol.asyncDispose]();
      await machine[Symbol.asyncDispose]();
    }
  }
}
