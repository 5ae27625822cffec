// Functions of the other engine that match a pattern, callable here under their own ids. They follow the other engine:
// what appears there appears here.
//
// Invariants:
//   - A function that a bridge put there is not mirrored: no call goes in circles between two engines.
//   - A function of this engine keeps its id.
//   - While the other engine is away, its functions stay, and calls of them fail with bridge_error.

import { readPattern } from '../../core/access/pattern.ts';
import type { EngineLink } from '../../effects/engine-link.ts';
import { LINK_CALL_MS_DEFAULT } from '../../effects/engine-link.ts';
import type { Logger } from '../../effects/logger.ts';
import { parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { RawBuiltinDefinition } from '../../router/builtin.ts';
import { BRIDGED, remoteFunction } from './remote-calls.ts';

export interface MirrorOptions {
  readonly link: EngineLink;
  readonly patterns: readonly string[];
  readonly logger: Logger;
  /** Offers a function on this engine; `undefined`: its id is taken. Returns a function that removes it. */
  offer(definition: RawBuiltinDefinition): (() => void) | undefined;
}

interface RemoteRow {
  readonly id: string;
  readonly description: string | undefined;
  readonly isBridged: boolean;
}

/** Families that every engine has: they are those of this engine. */
const FAMILIES = ['engine::', 'state::', 'stream::', 'svc::', 'iii::', 'worker::', 'bridge.'];
const SINGLES = new Set(['publish', 'enqueue']);

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #matches: (id: string) => boolean;
  readonly #removers = new Map<string, () => void>();
  /** Reported once each. */
  readonly #refused = new Set<string>();

  constructor(options: MirrorOptions) {
    this.#options = options;
    const patterns = options.patterns.flatMap((text) => {
      const read = readPattern(text);
      return read.ok ? [read.pattern] : [];
    });
    this.#matches = (id) => patterns.some((pattern) => pattern.matches(id));
  }

  get count(): number {
    return this.#removers.size;
  }

  /** Reads the functions of the other engine. Failures are those of the link, which calls it again. */
  refresh(): void {
    const { link } = this.#options;
    const request = { functionId: 'engine::functions::list', data: rawJson({}) };
    link.call(request, LINK_CALL_MS_DEFAULT, ({ result }) => {
      if (result !== undefined) this.#follow(rowsOf(result).filter(({ id }) => this.#isMeant(id)));
    });
  }

  stop(): void {
    for (const remove of this.#removers.values()) remove();
    this.#removers.clear();
  }

  #isMeant(id: string): boolean {
    return !SINGLES.has(id) && !FAMILIES.some((family) => id.startsWith(family)) && this.#matches(id);
  }

  #follow(rows: readonly RemoteRow[]): void {
    const wanted = new Set(rows.filter(({ isBridged }) => !isBridged).map(({ id }) => id));
    for (const [id, remove] of this.#removers) {
      if (wanted.has(id)) continue;
      remove();
      this.#removers.delete(id);
    }
    for (const { id, isBridged, description } of rows) {
      if (this.#removers.has(id)) continue;
      if (isBridged) this.#refuse(id, 'the other engine has it from a bridge, and calls would go in circles');
      else this.#add(id, description);
    }
  }

  #add(id: string, description: string | undefined): void {
    const { link, offer } = this.#options;
    const parts = { localId: id, remoteId: id, timeoutMs: LINK_CALL_MS_DEFAULT, description };
    const remove = offer(remoteFunction(link, parts));
    if (remove === undefined) this.#refuse(id, 'this engine has a function of that id');
    else this.#removers.set(id, remove);
  }

  #refuse(id: string, reason: string): void {
    if (this.#refused.has(id)) return;
    this.#refused.add(id);
    this.#options.logger.warn('A function of the other engine is not mirrored', { function_id: id, reason });
  }
}

function rowsOf(result: RawJson): RemoteRow[] {
  const { functions } = Object(parseRawJson(result));
  if (!Array.isArray(functions)) return [];
  return functions.flatMap((row: unknown): RemoteRow[] => {
    const { function_id: id, description, metadata } = Object(row);
    if (typeof id !== 'string') return [];
    const isBridged = typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, BRIDGED);
    return [{ id, description: typeof description === 'string' ? description : undefined, isBridged }];
  });
}
