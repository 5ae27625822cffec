// Descriptions and schemas of functions that only other engines of the cluster offer. Engines share what routing needs;
// what people read is asked for when it is shown, and kept until the registration changes.

import { isDescribedFunctions } from '../../generated/cluster-values.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { RouterContext, WorkerEntry } from '../context.ts';
import { askEngine, parseAnswer } from './ask-engines.ts';
import type { RemoteEngine } from './remote-engine.ts';

/** What `engine::functions::list` answers, as far as it is read here. */
export interface DescribedFunctions {
  readonly functions: readonly {
    readonly function_id: string;
    readonly description?: string;
    readonly request_format?: unknown;
    readonly response_format?: unknown;
  }[];
}

type Offer = WorkerEntry['remotes'][number];

/** `undefined`: nothing is missing. */
export function describeRemotes(context: RouterContext, ids?: readonly string[]): Promise<void> | undefined {
  if (context.remoteEngines.size === 0) return undefined;
  const entries = ids?.flatMap((id) => context.functions.get(id) ?? []) ?? [...context.functions.all()];
  const missing = new Map<RemoteEngine, Map<string, Offer>>();
  for (const entry of entries) {
    const offer = entry.kind === 'worker' && entry.specs.length === 0 ? entry.remotes.at(-1) : undefined;
    if (offer?.isDescribed !== true || offer.shown !== undefined) continue;
    const ofEngine = missing.get(offer.engine) ?? new Map<string, Offer>();
    missing.set(offer.engine, ofEngine.set(entry.id, offer));
  }
  if (missing.size === 0) return undefined;
  return Promise.all([...missing].map(([engine, offers]) => ask(context, engine, offers))).then(() => {});
}

async function ask(context: RouterContext, engine: RemoteEngine, offers: ReadonlyMap<string, Offer>): Promise<void> {
  const [only] = offers.keys();
  const filter = { include_internal: true, ...(offers.size === 1 && { prefix: only }) };
  const payload = Payload.ofText(rawJson(filter));
  const { result } = await askEngine(context, engine, 'engine::functions::list', payload);
  const answer = result && parseAnswer(result);
  if (!isDescribedFunctions(answer)) return;
  for (const { function_id: id, description, request_format: request, response_format: response } of answer.functions) {
    const offer = offers.get(id);
    if (offer === undefined) continue;
    offer.shown = {
      description,
      requestFormat: request === undefined ? undefined : rawJson(request),
      responseFormat: response === undefined ? undefined : rawJson(response),
      workers: [],
    };
  }
}
