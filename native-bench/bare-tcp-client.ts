// A bare TCP client that takes next to nothing of the processors: all connections of the process read into one buffer,
// so no chunk is allocated.

import { connect, type Socket } from 'node:net';

const READ_BYTES_MAX = 256 * 1024;
const shared = Buffer.allocUnsafe(READ_BYTES_MAX);

export class BareTcpClient {
  readonly #socket: Socket;
  /** The bytes are only valid until it returns. */
  receive: (bytes: Buffer) => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(host: string, port: number) {
    const callback = (length: number): boolean => {
      this.receive(shared.subarray(0, length));
      return true;
    };
    this.#socket = connect({ host, port, noDelay: true, onread: { buffer: shared, callback } });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The server closed the connection')));
  }

  write(data: string | Buffer): void {
    this.#socket.write(data);
  }

  /** Resolves once the server has sent that text. */
  async heard(text: string): Promise<void> {
    let seen = '';
    const { receive } = this;
    await new Promise<void>((resolve, reject) => {
      this.#fail = (error) => reject(new Error(`${error.message}, after ${seen.slice(0, 200)}`));
      this.receive = (bytes) => {
        seen += bytes.toString('latin1');
        if (seen.includes(text)) resolve();
      };
    });
    this.receive = receive;
  }
}
