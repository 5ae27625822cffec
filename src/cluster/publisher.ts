// Writes what this engine's trusted workers offer into the bucket of registrations: functions and triggers. Other
// engines do not see what restricted connections register.
//
// What should be there is compared with what is known to be there, one entry at a time, so that an interruption or a
// failed write needs no code of its own: the difference is written again.
// Invariant: changes of one entry are written one after the other.

import { keyPart } from '../core/cluster/bucket-keys.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import { byteStringToText, type RawJson } from '../protocol/json/byte-string.ts';
import type { RouterContext } from '../router/context.ts';
import { Session } from '../router/session/session.ts';
import type { FunctionValue, TriggerValue } from './entry-values.ts';

export interface PublisherOptions {
  readonly engineId: string;
  readonly bucket: Bucket;
  readonly context: RouterContext;
  /** Of one entry. */
  readonly bytesMax: number;
}

/** Writes that wait for their confirmation at a time. */
const WRITES_MAX = 256;
const RETRY_MS = 500;

/** The letters of the kinds in keys. */
const FUNCTION = 'f';
const TRIGGER = 't';

export class Publisher {
  readonly #options: PublisherOptions;
  /** Entries, `<kind>.<id>`, that may differ from what is written. */
  readonly #changed = new Set<string>();
  readonly #writing = new Set<string>();
  readonly #written = new Map<string, string>();
  #isScheduled = false;
  #isStopped = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    const { functions, triggers } = options.context;
    functions.onWorkersChanged = (id) => this.#note(FUNCTION, id);
    triggers.onBindingChanged = ({ id, owner }) => {
      if (owner instanceof Session) this.#note(TRIGGER, id);
    };
    for (const { id, kind } of functions.all()) if (kind === 'worker') this.#note(FUNCTION, id);
    for (const { id } of triggers.bindings()) this.#note(TRIGGER, id);
  }

  stop(): void {
    this.#isStopped = true;
    const { functions, triggers } = this.#options.context;
    functions.onWorkersChanged = undefined;
    triggers.onBindingChanged = undefined;
  }

  #note(kind: string, id: string): void {
    this.#changed.add(`${kind}.${id}`);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.context.clock.afterTurn(() => {
      this.#isScheduled = false;
      this.#writeChanges();
    });
  }

  #writeChanges(): void {
    for (const entry of this.#changed) {
      if (this.#isStopped || this.#writing.size >= WRITES_MAX) return;
      if (this.#writing.has(entry)) continue;
      this.#changed.delete(entry);
      void this.#write(entry);
    }
  }

  async #write(entry: string): Promise<void> {
    const { bucket, engineId, context } = this.#options;
    const value = this.#valueOf(entry);
    if (value === this.#written.get(entry)) return;
    const key = `${engineId}.${entry[0]}.${keyPart(entry.slice(2)).part}`;
    this.#writing.add(entry);
    try {
      if (value === undefined) {
        await bucket.delete(key);
        this.#written.delete(entry);
      } else {
        await bucket.put(key, value);
        this.#written.set(entry, value);
      }
    } catch {
      await new Promise<void>((resolve) => context.clock.after(RETRY_MS, resolve));
      this.#changed.add(entry);
    } finally {
      this.#writing.delete(entry);
    }
    this.#writeChanges();
  }

  /** `undefined`: other engines do not see it. */
  #valueOf(entry: string): string | undefined {
    const id = entry.slice(2);
    const value = entry.startsWith(FUNCTION) ? this.#functionValue(id) : this.#triggerValue(id);
    if (value === undefined) return undefined;
    const text = JSON.stringify(keyPart(id).isDigest ? { id, ...value } : value);
    const { bytesMax, context } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes <= bytesMax) return text;
    context.counters.count('cluster.registrations_too_large');
    context.logger.warn('Other engines of the cluster do not see a registration: it is too large', {
      ...{ kind: entry.startsWith(FUNCTION) ? 'function' : 'trigger', id, bytes, limit: bytesMax },
    });
    return undefined;
  }

  #functionValue(id: string): FunctionValue | undefined {
    const entry = this.#options.context.functions.get(id);
    if (entry?.kind !== 'worker') return undefined;
    const index = entry.executors.findLastIndex(({ access }) => access === undefined);
    return index < 0 ? undefined : { ...textOf('metadata', entry.specs[index]?.metadata) };
  }

  #triggerValue(id: string): TriggerValue | undefined {
    const binding = this.#options.context.triggers.binding(id);
    if (binding === undefined || binding.state === 'refused') return undefined;
    const { owner, type, functionId, config, metadata } = binding;
    if (!(owner instanceof Session) || owner.access !== undefined) return undefined;
    const registration = { type, function_id: functionId, config: byteStringToText(config) };
    return { owner: owner.workerId, sdk: owner.isOwnSdk, ...registration, ...textOf('metadata', metadata) };
  }
}

function textOf(key: 'metadata', raw: RawJson | undefined): { metadata?: string } {
  return raw === undefined ? {} : { [key]: byteStringToText(raw) };
}
