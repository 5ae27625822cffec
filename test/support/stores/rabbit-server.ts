// A RabbitMQ node of the test, with its own ports and files, which the test may kill, stop and start again. The node of
// the machine is shared and is not touched.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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

/** Where a node runs, and with what. */
export interface RabbitPlace {
  readonly host: string;
  readonly port: number;
  /** For other nodes. */
  readonly nodesPort: number;
  /** Nodes find each other by it; the shared one must not hear of this node. */
  readonly namesPort: number;
  /** The words before its commands. */
  readonly entrance: readonly string[];
  /** The lines of its rabbitmq.conf. */
  readonly settings: readonly string[];
  /** Its advanced.config. */
  readonly advanced: string;
}

export class RabbitServer implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #place: RabbitPlace;
  readonly #names: ChildProcess;
  readonly #environment: NodeJS.ProcessEnv;
  #node: ChildProcess | undefined;

  constructor(place: RabbitPlace) {
    this.#place = place;
    const { host, port, nodesPort, namesPort, settings, advanced } = place;
    const { path } = this.#folder;
    writeFileSync(join(path, '.erlang.cookie'), 'SVCTEST', { mode: 0o400 });
    writeFileSync(join(path, 'rabbitmq.conf'), settings.join('\n'));
    writeFileSync(join(path, 'advanced.config'), advanced);
    this.#environment = {
      ...process.env,
      HOME: path,
      ERL_EPMD_PORT: String(namesPort),
      ERL_EPMD_ADDRESS: host,
      RABBITMQ_USE_LONGNAME: 'true',
      RABBITMQ_NODENAME: rabbitNodeName(place),
      RABBITMQ_NODE_IP_ADDRESS: host,
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(nodesPort),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {${host.replaceAll('.', ',')}} +S 1`,
      RABBITMQ_MNESIA_BASE: join(path, 'mnesia'),
      RABBITMQ_LOG_BASE: join(path, 'log'),
      RABBITMQ_PID_FILE: join(path, 'pid'),
      // Those of the machine are for the shared one.
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: join(path, 'rabbitmq.conf'),
      RABBITMQ_ADVANCED_CONFIG_FILE: join(path, 'advanced.config'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(path, 'plugins'),
    };
    this.#names = this.#spawn('epmd', ['-port', String(namesPort), '-address', host]);
  }

  /** One that is alone, on this machine. */
  static async start(): Promise<RabbitServer> {
    const [port, nodesPort, namesPort] = [await freePort(), await freePort(), await freePort()];
    const ports = { port, nodesPort, namesPort };
    const server = new RabbitServer({ host: '127.0.0.1', ...ports, entrance: [], settings: [], advanced: '[].' });
    await server.start();
    return server;
  }

  get url(): string {
    return `amqp://guest:guest@${this.#place.host}:${this.#place.port}`;
  }

  /** Starts it with its data; it accepts connections when this resolves. */
  async start(): Promise<void> {
    rmSync(join(this.#folder.path, 'pid'), { force: true });
    this.#node = this.#spawn(PROGRAM, []);
    const { port, host } = this.#place;
    await waitFor('RabbitMQ takes connections', () => takesConnections(port, host), START_MS_MAX);
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

  /** The answer of the node to an expression in its own language. */
  async ask(expression: string): Promise<string> {
    const control = join(dirname(PROGRAM), 'rabbitmqctl');
    const [program = control, ...words] = [...this.#place.entrance, control, 'eval', expression];
    const { stdout } = await promisify(execFile)(program, words, { env: this.#environment });
    return stdout.trim();
  }

  #spawn(command: string, args: readonly string[]): ChildProcess {
    const [program = command, ...words] = [...this.#place.entrance, command, ...args];
    return spawn(program, words, { env: this.#environment, stdio: 'ignore' });
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

/** By which other nodes know it. */
export function rabbitNodeName({ host, port }: Pick<RabbitPlace, 'host' | 'port'>): string {
  return `svc-test-${port}@${host}`;
}
