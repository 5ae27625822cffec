// A part of a test in a separate process, which receives words and answers with messages.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export class ChildPart implements AsyncDisposable {
  readonly #name: string;
  readonly #child: ChildProcess;

  private constructor(name: string, child: ChildProcess) {
    this.#name = name;
    this.#child = child;
  }

  /** `name`: the name of its file in this folder. It sends a message when it is ready. */
  static async start(name: string, args: readonly string[]): Promise<ChildPart> {
    const part = new ChildPart(name, fork(fileURLToPath(new URL(name, import.meta.url)), args));
    await part.says();
    return part;
  }

  send(word: string): void {
    this.#child.send(word);
  }

  /** Its next message. Fails if the process ends first. */
  async says(): Promise<unknown> {
    const over = new AbortController();
    const ended = once(this.#child, 'exit', over).then(([code]) => {
      throw new Error(`${this.#name} ended with ${code}`);
    });
    try {
      const [message] = await Promise.race([once(this.#child, 'message', over), ended]);
      return message;
    } finally {
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    await ended;
  }
}
