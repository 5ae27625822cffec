// A TCP proxy between worker and engine. A test can cut it on either side, or add a delay.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

interface Line {
  readonly worker: Socket;
  readonly engine: Socket;
}

export class CutProxy implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #isOpen = true;
  #isSilent = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    this.url = `ws://127.0.0.1:${port}`;
  }

  /** Listens in front of the port of the engine, or of one for each connection. Bytes of the engine arrive after this delay. */
  static async start(enginePort: number | (() => number), { delayMs = 0 } = {}): Promise<CutProxy> {
    const portOf = typeof enginePort === 'number' ? () => enginePort : enginePort;
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The proxy has no TCP port');
    const proxy = new CutProxy(server, address.port);
    server.on('connection', (worker) => {
      if (proxy.#isOpen) proxy.#carry({ worker, engine: connect(portOf(), '127.0.0.1') }, delayMs);
      else worker.destroy();
    });
    return proxy;
  }

  /** Ends all present connections towards both sides. */
  cut(): void {
    for (const line of this.#lines) {
      line.worker.destroy();
      line.engine.destroy();
    }
  }

  /**
   * Drops all bytes on present connections without closing them, like a network that drops everything. `alsoNew`: and
   * on those to come.
   */
  fallSilent({ alsoNew = false } = {}): void {
    this.#isSilent = alsoNew;
    for (const { worker, engine } of this.#lines) {
      worker.pause();
      engine.pause();
    }
  }

  /** What was held back passes again. */
  speakAgain(): void {
    this.#isSilent = false;
    for (const { worker, engine } of this.#lines) {
      worker.resume();
      engine.resume();
    }
  }

  /** Closes present and new connections, as if the server were gone. */
  close(): void {
    this.#isOpen = false;
    this.cut();
  }

  reopen(): void {
    this.#isOpen = true;
  }

  /** The workers lose their connections; the engine keeps its side open. */
  cutWorkers(): void {
    for (const { worker } of this.#lines) worker.destroy();
  }

  /** Closes the side of the engine too. */
  dropHeld(): void {
    for (const { worker, engine } of this.#lines) if (worker.destroyed) engine.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #carry(line: Line, delayMs: number): void {
    const { worker, engine } = line;
    this.#lines.add(line);
    worker.on('data', (bytes) => engine.write(bytes));
    const handOn = (bytes: Buffer): void => {
      if (!worker.destroyed) worker.write(bytes);
    };
    engine.on('data', delayMs === 0 ? handOn : (bytes) => setTimeout(handOn, delayMs, bytes));
    worker.on('end', () => engine.end());
    engine.on('end', () => worker.end());
    if (this.#isSilent) {
      worker.pause();
      engine.pause();
    }
    // A cut shows as an error on the other side; the close that follows is what counts.
    for (const socket of [worker, engine]) socket.on('error', () => {});
    engine.on('close', () => {
      this.#lines.delete(line);
      worker.destroy();
    });
  }
}
