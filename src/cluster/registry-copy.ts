// The functions of all other engines, as the bucket of registrations reports them. A lookup stays one access to a map:
// the copy enters them into the table of functions.
//
// Invariant: a function of another engine is in the table exactly while its entry is in the bucket and the engine is
// alive, in whatever order the two buckets report that.

import { textOfPart } from '../core/cluster/bucket-keys.ts';
import type { BucketEntry, BucketWatch } from '../effects/nats/bucket.ts';
import { isRegistrationValue } from '../generated/cluster-values.ts';
import { asRawJson, parseRawJson, type RawJson, textToByteString } from '../protocol/json/byte-string.ts';
import type { RouterContext } from '../router/context.ts';
import type { RemoteEngine } from '../router/remote/remote-engine.ts';

interface Registration {
  readonly functionId: string;
  readonly metadata: RawJson | undefined;
}

export class RegistryCopy implements BucketWatch {
  readonly #context: Pick<RouterContext, 'functions' | 'announce'>;
  readonly #ownId: string;
  readonly #engines = new Map<string, RemoteEngine>();
  /** By engine, then by key. */
  readonly #registrations = new Map<string, Map<string, Registration>>();
  #delivered = new Set<string>();

  constructor(context: Pick<RouterContext, 'functions' | 'announce'>, ownId: string) {
    this.#context = context;
    this.#ownId = ownId;
  }

  engineCame(engine: RemoteEngine): void {
    this.#engines.set(engine.id, engine);
    for (const registration of this.#registrations.get(engine.id)?.values() ?? []) this.#enter(engine, registration);
  }

  engineLeft(engineId: string): void {
    const engine = this.#engines.get(engineId);
    this.#engines.delete(engineId);
    // Its entries are removed from the bucket without a report.
    this.#registrations.delete(engineId);
    if (engine === undefined) return;
    for (const functionId of [...engine.functions]) this.#remove(engine, functionId);
  }

  begin(): void {
    this.#delivered = new Set();
  }

  entry({ key, value }: BucketEntry): void {
    const engineId = key.slice(0, Math.max(0, key.indexOf('.')));
    if (engineId === '' || engineId === this.#ownId) return;
    this.#delivered.add(key);
    const registration = value === undefined ? undefined : readRegistration(key, value);
    if (registration === undefined) return this.#drop(engineId, key);
    const known = this.#registrations.get(engineId) ?? new Map<string, Registration>();
    this.#registrations.set(engineId, known.set(key, registration));
    const engine = this.#engines.get(engineId);
    if (engine !== undefined) this.#enter(engine, registration);
  }

  complete(): void {
    for (const [engineId, ofEngine] of this.#registrations) {
      for (const key of [...ofEngine.keys()]) if (!this.#delivered.has(key)) this.#drop(engineId, key);
    }
    // Only what follows a `begin` is compared.
    this.#delivered = new Set();
  }

  stop(): void {
    for (const engineId of [...this.#engines.keys()]) this.engineLeft(engineId);
  }

  #drop(engineId: string, key: string): void {
    const ofEngine = this.#registrations.get(engineId);
    const registration = ofEngine?.get(key);
    if (ofEngine === undefined || registration === undefined) return;
    ofEngine.delete(key);
    if (ofEngine.size === 0) this.#registrations.delete(engineId);
    const engine = this.#engines.get(engineId);
    if (engine !== undefined) this.#remove(engine, registration.functionId);
  }

  #enter(engine: RemoteEngine, { functionId, metadata }: Registration): void {
    engine.functions.add(functionId);
    if (this.#context.functions.offerRemotely(functionId, { engine, metadata }))
      this.#context.announce.functionsChanged();
  }

  #remove(engine: RemoteEngine, functionId: string): void {
    engine.functions.delete(functionId);
    if (this.#context.functions.withdrawRemotely(functionId, engine)) this.#context.announce.functionsChanged();
  }
}

function readRegistration(key: string, value: string): Registration | undefined {
  const [, kind, part] = key.split('.');
  const parsed = parseRawJson(asRawJson(textToByteString(value)));
  if (kind !== 'f' || part === undefined || !isRegistrationValue(parsed)) return undefined;
  const { id = textOfPart(part), metadata } = parsed;
  return { functionId: id, metadata: metadata === undefined ? undefined : asRawJson(textToByteString(metadata)) };
}
