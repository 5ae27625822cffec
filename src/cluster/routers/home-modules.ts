// The modules of the first router, as the further routers of the process see them: their functions are passed on, and
// their trigger types are bound there.

import type { TriggerTypeSpec } from '../../core/registry/trigger-table.ts';
import { asRawJson, byteStringToText, type RawJson, textToByteString } from '../../protocol/json/byte-string.ts';
import { type AnyBuiltin, builtinEntry, type ModuleTriggerType } from '../../router/builtin.ts';
import type { RouterContext } from '../../router/context.ts';
import type { RemoteEngine } from '../../router/remote/remote-engine.ts';
import { addModuleType, removeModuleType } from '../../router/triggers/triggers.ts';
import type { ModulesOfHome, OfferedFunction, OfferedType } from './messages.ts';

/** They concern the connection that calls, which only its own router knows, or nothing but the call. */
const ON_EVERY_ROUTER: ReadonlySet<string> = new Set([
  'engine::workers::register',
  'engine::workers::revoke',
  'engine::channels::create',
  'engine::baggage::get',
  'engine::baggage::set',
  'engine::baggage::get_all',
]);

/** What the modules of this router offer. */
export function ownModules({ functions, triggers }: RouterContext): ModulesOfHome {
  const offered: OfferedFunction[] = [];
  for (const entry of functions.all()) {
    if (entry.kind !== 'builtin') continue;
    const { id, module, spec } = entry;
    const { description, requestFormat, responseFormat, metadata } = spec;
    offered.push({
      id,
      module,
      ...texts({ requestFormat, responseFormat, metadata }),
      ...(description && { description }),
    });
  }
  const types: OfferedType[] = [];
  for (const { id, spec, provider } of triggers.types()) {
    const { description, configFormat, payloadFormat } = spec;
    if (provider.kind === 'module') types.push({ id, description, ...texts({ configFormat, payloadFormat }) });
  }
  return { kind: 'modules', functions: offered, types };
}

export class HomeModules {
  readonly #context: RouterContext;
  readonly #home: RemoteEngine;
  #functions = new Map<string, ReturnType<typeof builtinEntry>>();
  #types = new Map<string, ModuleTriggerType>();

  constructor(context: RouterContext, home: RemoteEngine) {
    this.#context = context;
    this.#home = home;
  }

  adopt({ functions, types }: ModulesOfHome): void {
    const ids = new Set(functions.map(({ id }) => id));
    for (const [id, entry] of this.#functions) {
      if (ids.has(id)) continue;
      this.#functions.delete(id);
      this.#context.functions.removeBuiltin(entry);
    }
    for (const offered of functions) if (!this.#functions.has(offered.id)) this.#offer(offered);
    const typeIds = new Set(types.map(({ id }) => id));
    for (const [id, type] of this.#types) {
      if (typeIds.has(id)) continue;
      this.#types.delete(id);
      removeModuleType(this.#context, type);
    }
    for (const offered of types) if (!this.#types.has(offered.id)) this.#provide(offered);
  }

  #offer({ id, module, description = '', ...rest }: OfferedFunction): void {
    if (ON_EVERY_ROUTER.has(id)) return;
    const { functions } = this.#context;
    const known = functions.get(id);
    const local = known?.kind === 'builtin' && !('home' in known.handler) ? known.handler : undefined;
    if (known?.kind === 'builtin') functions.removeBuiltin(known);
    const handler: AnyBuiltin = { id, description, ...raws(rest), home: this.#home, local };
    const entry = builtinEntry(module, handler);
    this.#functions.set(id, entry);
    functions.addBuiltin(entry);
  }

  /** A module of this router provides the type. Its triggers are delivered again. */
  keepOwn(id: string): void {
    if (this.#types.delete(id)) this.#context.triggers.removeModuleType(id);
  }

  #provide({ id, description, configFormat, payloadFormat }: OfferedType): void {
    // A module that runs on every router has its types there.
    if (this.#context.triggers.type(id)?.provider.kind === 'module') return;
    const spec: TriggerTypeSpec = {
      description,
      configFormat: rawOf(configFormat),
      payloadFormat: rawOf(payloadFormat),
    };
    // The first router judges, and its verdict follows.
    const type: ModuleTriggerType = { id, spec, refuse: () => undefined };
    this.#types.set(id, type);
    addModuleType(this.#context, type);
  }
}

function texts<K extends string>(parts: Readonly<Record<K, RawJson | undefined>>): { readonly [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key in parts) {
    const raw = parts[key];
    if (raw !== undefined) found[key] = byteStringToText(raw);
  }
  return found;
}

function rawOf(text: string | undefined): RawJson | undefined {
  return text === undefined ? undefined : asRawJson(textToByteString(text));
}

function raws(parts: Omit<OfferedFunction, 'id' | 'module' | 'description'>) {
  const [requestFormat, responseFormat, metadata] = [
    rawOf(parts.requestFormat),
    rawOf(parts.responseFormat),
    rawOf(parts.metadata),
  ];
  return {
    ...(requestFormat !== undefined && { requestFormat }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(metadata !== undefined && { metadata }),
  };
}
