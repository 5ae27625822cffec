// A RabbitMQ node of the test, with its own ports and files, which the test may kill, stop and start again. The node of
// the machine is shared and is not touched.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takesConnections } from '../engine/takes-connections.ts';
import { TemporaryFolder } from '../engine/temporary-folder.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';

/** Not the script in /usr/sbin, which changes the user and does not wait. */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** Why tests that stop a RabbitMQ cannot run here; `undefined` if they can. On CI they must run. */
export const NO_RABBITMQ_SERVER =
  process.env.CI !== undefined || existsSync(PROGRAM)
    ? undefined
    : `skipped: there is no ${PROGRAM} (Debian: apt-get install rabbitmq-server)`;

/** A node starts in 5 s, and on a busy machine in 15. */
const START_MS_MAX = 60_000;

export class RabbitServer implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #port: number;
  /** Nodes find each other by it; the shared one must not hear of this node. */
  readonly #names: ChildProcess;
  readonly #environment: NodeJS.ProcessEnv;
  #node: ChildProcess | undefined;

  private constructor(port: number, nodesPort: number, namesPort: number) {
    this.#port = port;
    this.#names = spawn('epmd', ['-port', String(namesPort), '-address', '127.0.0.1'], { stdio: 'ignore' });
    const { path } = this.#folder;
    this.#environment = {
      ...process.env,
      HOME: path,
      ERL_EPMD_PORT: String(namesPort),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_NODENAME: `svc-test-${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(nodesPort),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1',
      RABBITMQ_MNESIA_BASE: join(path, 'mnesia'),
      RABBITMQ_LOG_BASE: join(path, 'log'),
      RABBITMQ_PID_FILE: join(path, 'pid'),
      // Those of the machine are for the shared one.
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: join(path, 'none'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(path, 'plugins'),
    };
  }

  static async start(): Promise<RabbitServer> {
    const server = new RabbitServer(await freePort(), await freePort(), await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `amqp://guest:guest@127.0.0.1:${this.#port}`;
  }

  /** Starts it with its data; it accepts connections when this resolves. */
  async start(): Promise<void> {
    rmSync(join(this.#folder.path, 'pid'), { force: true });
    this.#node = spawn(PROGRAM, [], { env: this.#environment, stdio: 'ignore' });
    await waitFor('RabbitMQ takes connections', () => takesConnections(this.#port), START_MS_MAX);
  }

  /** SIGKILL: as in a crash. SIGTERM: an orderly stop. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const node = this.#node;
    this.#node = undefined;
    if (node === undefined) return;
    const ended = node.exitCode === null ? once(node, 'exit') : undefined;
    process.kill(this.#pid(), signal);
    await ended;
  }

  /** The process id of the node: the started process is a shell that waits for it. */
  #pid(): number {
    return Number(readFileSync(join(this.#folder.path, 'pid'), 'utf8'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
    this.#names.kill('SIGKILL');
    this.#folder[Symbol.dispose]();
  }
}
