// Writes what the workers of this engine offer into the bucket of registrations: functions, triggers and trigger types.

import { createHash } from 'node:crypto';
import { keptRights } from '../core/access/kept-rights.ts';
import { keyPart } from '../core/cluster/bucket-keys.ts';
import { isProvisional } from '../core/cluster/provisional-order.ts';
import type { FunctionSpec } from '../core/registry/function-table.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import { byteStringToText, type RawJson } from '../protocol/json/byte-string.ts';
import type { Binding } from '../router/builtin.ts';
import type { RouterContext, WorkerEntry } from '../router/context.ts';
import { withdrawDuplicate } from '../router/registrations/functions.ts';
import { trustOf } from '../router/remote/offers.ts';
import { RemoteOwner } from '../router/remote/remote-owner.ts';
import { Session } from '../router/session/session.ts';
import { reordered, withdrawLostType } from '../router/triggers/triggers.ts';
import { BucketWriter } from './bucket-writer.ts';
import type { FunctionValue, ShownFunction, TriggerTypeValue, TriggerValue } from './entry-values.ts';

export interface PublisherOptions {
  readonly engineId: string;
  readonly bucket: Pick<Bucket, 'put' | 'delete'>;
  readonly context: RouterContext;
  /** Of one entry. */
  readonly bytesMax: number;
  /** The other engines of the cluster, or the other routers of the process. */
  readonly readers: 'engines' | 'routers';
  /** An entry has its order among all of the cluster: other routers of the process compare by it, too. */
  readonly ordered?: (entry: string, revision: number) => void;
}

/** The letters of the kinds in keys. */
const FUNCTION = 'f';
const TRIGGER = 't';
const RESTRICTED_TRIGGER = 'r';
const TRIGGER_TYPE = 'y';
const RESTRICTED_TYPE = 'x';

const WORD_OF: Readonly<Record<string, string>> = {
  ...{ f: 'function', t: 'trigger', r: 'trigger', y: 'trigger type', x: 'trigger type' },
};

const TRIGGERS = [TRIGGER, RESTRICTED_TRIGGER];
const TYPES = [TRIGGER_TYPE, RESTRICTED_TYPE];

export class Publisher {
  readonly #options: PublisherOptions;
  /** Its entries are `<kind>.<id>`. */
  readonly #writer: BucketWriter;
  /** By entry, the revision in which it was first written. */
  readonly #revisions = new Map<string, number>();
  /** By entry, triggers that their owners have removed: others learn that before the entry goes. */
  readonly #takenBack = new Map<string, TriggerValue>();
  /** By entry, the registration that is being written for the first time. */
  readonly #unordered = new Map<string, { order?: number | undefined }>();

  constructor(options: PublisherOptions) {
    this.#options = options;
    const { bucket, engineId, context, readers } = options;
    const { functions, triggers, clock } = context;
    const writer = new BucketWriter({
      ...{ bucket, clock, isImmediate: readers === 'routers' },
      keyOf: (entry) => `${engineId}.${entry[0]}.${keyPart(entry.slice(2)).part}`,
      wantedOf: (entry) => this.#valueOf(entry),
      written: (entry, revision) => this.#written(entry, revision),
      unchanged: (entry) => this.#written(entry, this.#revisions.get(entry)),
    });
    this.#writer = writer;
    functions.workerListeners.add(this.#functionChanged);
    triggers.bindingListeners.add(this.#bindingChanged);
    triggers.typeListeners.add(this.#typeChanged);
    for (const { id } of triggers.types()) this.#typeChanged(id);
    for (const { id, kind } of functions.all()) if (kind === 'worker') writer.note(`${FUNCTION}.${id}`);
    for (const { id } of triggers.bindings()) for (const kind of TRIGGERS) writer.note(`${kind}.${id}`);
  }

  /** They learn a change before what happens next, and more of it. */
  get #isForRouters(): boolean {
    return this.#options.readers === 'routers';
  }

  stop(): void {
    const { functions, triggers } = this.#options.context;
    functions.workerListeners.delete(this.#functionChanged);
    triggers.bindingListeners.delete(this.#bindingChanged);
    triggers.typeListeners.delete(this.#typeChanged);
    this.#writer.stop();
  }

  /** The entry may have changed. */
  note(entry: string): void {
    this.#writer.note(entry);
  }

  readonly #functionChanged = (id: string): void => this.note(`${FUNCTION}.${id}`);
  readonly #typeChanged = (id: string): void => {
    for (const kind of TYPES) this.note(`${kind}.${id}`);
  };
  readonly #bindingChanged = (binding: Binding, isTakenBack: boolean): void => {
    if (binding.owner instanceof RemoteOwner) return;
    for (const kind of TRIGGERS) {
      const entry = `${kind}.${binding.id}`;
      const value = isTakenBack && this.#writer.has(entry) ? this.#valueOfBinding(entry, binding) : undefined;
      if (value === undefined) this.#takenBack.delete(entry);
      else this.#takenBack.set(entry, { ...value, taken_back: true });
      this.note(entry);
    }
  };

  /** `undefined`: other engines do not see it. */
  #valueOf(entry: string): string | undefined {
    const id = entry.slice(2);
    const value = this.#valueOfKind(entry, id);
    if (value === undefined) {
      this.#revisions.delete(entry);
      return undefined;
    }
    const text = JSON.stringify(keyPart(id).isDigest ? { id, ...value } : value);
    const { bytesMax, context } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes <= bytesMax) return text;
    context.counters.count('cluster.registrations_too_large');
    context.logger.warn('Other engines of the cluster do not see a registration: it is too large', {
      ...{ kind: WORD_OF[entry[0] ?? ''], id, bytes, limit: bytesMax },
    });
    return undefined;
  }

  #valueOfKind(entry: string, id: string): FunctionValue | TriggerValue | TriggerTypeValue | undefined {
    if (entry.startsWith(FUNCTION)) return this.#functionValue(id);
    return isOfType(entry) ? this.#typeValue(entry, id) : this.#triggerValue(entry, id);
  }

  #functionValue(id: string): FunctionValue | undefined {
    const entry = this.#options.context.functions.get(id);
    if (entry?.kind !== 'worker') return undefined;
    const trust = trustOf(entry);
    const [executor, spec] = [entry.executors.at(-1), entry.specs.at(-1)];
    if (trust === undefined || executor === undefined || spec === undefined) return undefined;
    const value = {
      ...textOf('metadata', spec.metadata),
      ...(trust !== 'trusted' && { trust }),
      ...(this.#isForRouters ? { shown: shownOf(entry, spec) } : digestOf(spec)),
    };
    if (entry.balance === 'least_in_flight') return value;
    return { ...value, by: executor.workerId, ...this.#orderOf(`${FUNCTION}.${id}`, spec) };
  }

  #triggerValue(entry: string, id: string): TriggerValue | undefined {
    const binding = this.#options.context.triggers.binding(id);
    return binding === undefined ? this.#takenBack.get(entry) : this.#valueOfBinding(entry, binding);
  }

  #valueOfBinding(entry: string, binding: Binding): TriggerValue | undefined {
    if (binding.state === 'refused') return undefined;
    const { type, functionId, config, metadata } = binding;
    const isRestricted = binding.owner?.access !== undefined;
    if (isRestricted !== entry.startsWith(RESTRICTED_TRIGGER)) return undefined;
    const owner = this.#shownOwner(binding);
    if (owner === undefined) return undefined;
    const registration = { type, function_id: functionId, config: byteStringToText(config) };
    const order = this.#orderOf(entry, binding);
    return { ...owner, ...registration, ...textOf('metadata', metadata), ...order };
  }

  #shownOwner({ owner }: Binding): Pick<TriggerValue, 'owner' | 'sdk' | 'durable' | 'rights' | 'prefix'> | undefined {
    if (owner instanceof Session) {
      const { workerId, isOwnSdk, access } = owner;
      const shown = { owner: workerId, sdk: isOwnSdk };
      if (access === undefined) return shown;
      const { functionPrefix: prefix } = access.grant;
      return { ...shown, rights: keptRights(workerId, access), ...(prefix !== undefined && { prefix }) };
    }
    // The provider of its type may be on any router of the process, also one that comes later.
    const isDurable = owner === undefined && this.#isForRouters;
    return isDurable ? { owner: '', sdk: false, durable: true } : undefined;
  }

  #typeValue(entry: string, id: string): TriggerTypeValue | undefined {
    const type = this.#options.context.triggers.type(id);
    if (type?.provider.kind !== 'worker') return undefined;
    const { workerId: by, access } = type.provider.executor;
    if ((access !== undefined) !== entry.startsWith(RESTRICTED_TYPE)) return undefined;
    const { description } = type.spec;
    const prefix = access?.grant.functionPrefix;
    return { description, by, ...(prefix !== undefined && { prefix }), ...this.#orderOf(entry, type.spec) };
  }

  /** A registration keeps its order when it is written again, also by the next identity of the engine. */
  #orderOf(entry: string, registration: { order?: number | undefined }): { first?: number } {
    const { order } = registration;
    // Among the routers of its process it has one before.
    const hasOrder = order !== undefined && (this.#isForRouters || !isProvisional(order));
    if (hasOrder) return { first: order };
    this.#unordered.set(entry, registration);
    return {};
  }

  #written(entry: string, revision: number | undefined): void {
    if (this.#takenBack.delete(entry)) return this.note(entry);
    const registration = this.#unordered.get(entry);
    if (registration === undefined || revision === undefined) return;
    this.#unordered.delete(entry);
    registration.order = revision;
    const { context, ordered } = this.#options;
    this.#revisions.set(entry, revision);
    ordered?.(entry, revision);
    const id = entry.slice(2);
    if (entry.startsWith(FUNCTION)) return withdrawDuplicate(context, id);
    if (isOfType(entry)) return withdrawLostType(context, id);
    const binding = context.triggers.binding(id);
    if (binding !== undefined) reordered(context, binding);
  }
}

function shownOf(
  { executors }: WorkerEntry,
  { description, requestFormat, responseFormat }: FunctionSpec,
): ShownFunction {
  return {
    ...(description !== undefined && { description }),
    ...textOf('request', requestFormat),
    ...textOf('response', responseFormat),
    workers: executors.map(({ workerId }) => workerId),
  };
}

/** Changes with each registration that lists show in another way. */
function digestOf({ description, requestFormat, responseFormat }: FunctionSpec): Pick<FunctionValue, 'described'> {
  const texts = [description, requestFormat, responseFormat];
  if (texts.every((text) => text === undefined)) return {};
  const digest = createHash('sha256')
    .update(JSON.stringify(texts.map((text) => text ?? null)))
    .digest('base64url');
  return { described: digest.slice(0, DIGEST_CHARS) };
}

const DIGEST_CHARS = 12;

function textOf<K extends string>(key: K, raw: RawJson | undefined): { [key in K]?: string } {
  return raw === undefined ? {} : ({ [key]: byteStringToText(raw) } as { [key in K]?: string });
}

function isOfType(entry: string): boolean {
  return TYPES.includes(entry.slice(0, 1));
}

/** The id of the function that the entry is about. */
export function functionOf(entry: string): string | undefined {
  return entry.startsWith(`${FUNCTION}.`) ? entry.slice(2) : undefined;
}
