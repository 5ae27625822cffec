// The output of the workers of an engine, as one stream: each line starts with the name of its worker, in its colour.

import { styleText } from 'node:util';
import type { EngineConnection } from '../../engine/connection.ts';
import { padEnd, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';

const COLOURS = ['cyan', 'magenta', 'green', 'yellow', 'blue', 'cyanBright', 'magentaBright', 'greenBright'] as const;

export interface LocalWorker {
  readonly name: string;
  readonly path: string;
}

interface WorkerOutputOptions {
  readonly engine: EngineConnection;
  readonly write: (line: string) => void;
  readonly isColoured: boolean;
}

export class WorkerOutput {
  /** Only the lines of this worker are shown; those of others are skipped. */
  only: string | undefined;
  readonly #options: WorkerOutputOptions;
  readonly #after = new Map<string, number>();
  #width = 0;

  constructor(options: WorkerOutputOptions) {
    this.#options = options;
  }

  /** Writes new lines. */
  async poll(): Promise<readonly LocalWorker[]> {
    const { engine } = this.#options;
    const workers = recordsIn(await engine.call('worker::list', {}), 'workers').map((worker) => ({
      name: textIn(worker, 'name'),
      path: textIn(worker, 'path'),
    }));
    this.#width = Math.max(this.#width, ...workers.map(({ name }) => name.length));
    for (const { name } of workers) await this.#show(name);
    return workers;
  }

  async #show(name: string): Promise<void> {
    const { engine, write } = this.#options;
    const after = this.#after.get(name) ?? 0;
    const answer = await engine.call('worker::logs', { name, after, limit: 5_000 });
    if (!this.#after.has(name)) this.#after.set(name, 0);
    const dropped = isRecord(answer) ? (numberIn(answer, 'dropped') ?? 0) : 0;
    const isShown = this.only === undefined || this.only === name;
    if (dropped > 0 && isShown) write(`${this.#prefix(name)}· ${dropped} lines were written too fast and are lost`);
    for (const line of recordsIn(answer, 'lines')) {
      this.#after.set(name, numberIn(line, 'seq') ?? after);
      const mark = textIn(line, 'stream') === 'svc' ? '· ' : '';
      if (isShown) write(`${this.#prefix(name)}${mark}${stripUnsafe(textIn(line, 'text'))}`);
    }
  }

  #prefix(name: string): string {
    const text = `${padEnd(name, this.#width)} │ `;
    if (!this.#options.isColoured) return text;
    const index = [...this.#after.keys()].indexOf(name);
    return styleText(COLOURS[index % COLOURS.length] ?? 'cyan', text, { validateStream: false });
  }
}
