// HTTP requests at a fixed rate, whatever happens to earlier ones: load that an engine cannot slow down. Connections
// are reused; a request that finds none free dials, up to a limit.

import { connect, type Socket } from 'node:net';

export interface OpenLoopCounts {
  readonly ok: number;
  readonly refused: number;
  /** Neither 200 nor 503. */
  readonly strange: readonly string[];
  /** Sent, and the connection ended without an answer. */
  readonly lost: number;
}

const TICK_MS = 5;

export class OpenLoop implements Disposable {
  readonly strange: string[] = [];
  ok = 0;
  refused = 0;
  lost = 0;
  readonly #port: number;
  readonly #request: string;
  readonly #connectionsMax: number;
  readonly #free: Socket[] = [];
  readonly #all = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(port: number, path: string, connectionsMax: number) {
    this.#port = port;
    this.#request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    this.#connectionsMax = connectionsMax;
  }

  get answered(): number {
    return this.ok + this.refused;
  }

  /** From now on so many requests a second. */
  setRate(perSecond: number): void {
    clearInterval(this.#timer);
    const startMs = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond);
      for (; sent < due; sent++) this.#send();
    }, TICK_MS);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    for (const socket of this.#all) socket.destroy();
  }

  #send(): void {
    const socket = this.#free.pop();
    if (socket !== undefined) socket.write(this.#request);
    else if (this.#all.size < this.#connectionsMax) this.#dial();
  }

  #dial(): void {
    const socket = connect(this.#port, '127.0.0.1');
    this.#all.add(socket);
    let text = '';
    socket.on('connect', () => socket.write(this.#request));
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const answer = wholeAnswer(text);
      if (answer === undefined) return;
      text = '';
      this.#count(answer.status);
      if (answer.isLast) socket.destroy();
      else this.#free.push(socket);
    });
    // A connection that the engine or the system refuses is reported by its close event.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#all.delete(socket);
      const at = this.#free.indexOf(socket);
      if (at >= 0) this.#free.splice(at, 1);
      else if (!this.#isOver && text !== '') this.lost++;
    });
  }

  #count(status: string): void {
    if (status === '200') this.ok++;
    else if (status === '503') this.refused++;
    else this.strange.push(status);
  }
}

function wholeAnswer(text: string) {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const bodyBytes = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (text.length < headEnd + 4 + bodyBytes) return undefined;
  return { status: head.slice(9, 12), isLast: /^connection: close$/im.test(head) };
}
