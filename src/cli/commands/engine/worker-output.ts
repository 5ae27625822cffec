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

interface LinesParts {
  readonly engine: EngineConnection;
  readonly write: (line: string) => void;
  readonly isColoured: boolean;
}

export class WorkerLines {
  /** Only the lines of this worker are shown; those of others are skipped. */
  only: string | undefined;
  readonly #parts: LinesParts;
  readonly #after = new Map<string, number>();
  #width = 0;

  constructor(parts: LinesParts) {
    this.#parts = parts;
  }

  /** Writes new lines. */
  async look(): Promise<readonly LocalWorker[]> {
    const { engine } = this.#parts;
    const workers = recordsIn(await engine.call('worker::list', {}), 'workers').map((facts) => ({
      name: textIn(facts, 'name'),
      path: textIn(facts, 'path'),
    }));
    this.#width = Math.max(this.#width, ...workers.map(({ name }) => name.length));
    for (const { name } of workers) await this.#show(name);
    return workers;
  }

  async #show(name: string): Promise<void> {
    const { engine, write } = this.#parts;
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
    if (!this.#parts.isColoured) return text;
    const place = [...this.#after.keys()].indexOf(name);
    return styleText(COLOURS[place % COLOURS.length] ?? 'cyan', text, { validateStream: false });
  }
}
