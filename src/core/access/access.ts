// What one connection of a restricted port may reach (X5, X7). Pure: policy and grant in, verdicts out.
//
// Job: the one place that allows or refuses, for every way in. A trusted connection has no `Access` at all.
// Neighbours: `modules/worker-manager` creates one per connection; `router/restricted/reach.ts` asks it.
// Invariants:
//   - Nothing is reachable that no rule names: anything unknown is hidden (X5).
//   - A verdict depends on the id that will run, and does not reveal whether a hidden function exists (X10).
//   - A cached verdict never outlives the registrations and the policy it was based on.

import { detach } from '../../protocol/json/byte-string.ts';
import type { ChannelShare } from '../channels/channel-share.ts';
import { type ExposeFilter, exposes } from './expose-filter.ts';
import type { Pattern } from './pattern.ts';

/** The trigger types that may be bound. `all`: the auth function and the hooks decide. */
export type TriggerTypes = ReadonlySet<string> | 'all';

/**
 * The rules in the configuration of the port, for all of its connections. A changed configuration is another policy.
 */
export interface AccessPolicy {
  readonly expose: readonly ExposeFilter[];
  readonly triggerTypes: TriggerTypes;
  /** Where its jobs wait and run together with trusted ones. */
  readonly sharedQueues: ReadonlySet<string>;
  /** There is no such port: nothing that was granted there counts. */
  readonly isOfNoPort?: true;
}

/** Where a connection finds the policy that holds now (X12). */
export interface PolicyInForce {
  /** Identifies them across restarts: host and port as they are configured. */
  readonly port: string;
  readonly policy: AccessPolicy;
}

/** The auth function's answer for one connection; `ANONYMOUS` where there is none. */
export interface Grant {
  readonly allowed: ReadonlySet<string>;
  readonly allowedPatterns: readonly Pattern[];
  readonly forbidden: ReadonlySet<string>;
  /** `undefined`: those of the policy. */
  readonly triggerTypes: ReadonlySet<string> | undefined;
  readonly mayRegisterFunctions: boolean;
  readonly mayRegisterTriggerTypes: boolean;
  readonly functionPrefix: string | undefined;
  /** Passed to hooks and middleware. */
  readonly context: unknown;
}

export const ANONYMOUS: Grant = {
  allowed: new Set(),
  allowedPatterns: [],
  forbidden: new Set(),
  triggerTypes: undefined,
  mayRegisterFunctions: true,
  mayRegisterTriggerTypes: false,
  functionPrefix: undefined,
  context: {},
};

/** The existing functions, as far as verdicts depend on them. */
export interface Registrations {
  /** Changes whenever a function came, went or changed. */
  readonly version: number;
  /** The metadata of each registration of the function; empty if there is no such function. */
  metadataOf(functionId: string): readonly unknown[];
}

/** `forbidden`: by name, even if another rule allows it. `hidden`: no rule allows it. `never`: no rule can. */
export type Reach = 'allowed' | 'forbidden' | 'hidden' | 'never';

export class Access {
  readonly grant: Grant;
  /** Its share of the channels; absent where there is no connection, as for jobs of one that left. */
  readonly channelShare: ChannelShare | undefined;
  readonly #inForce: PolicyInForce;
  readonly #registrations: Registrations;
  readonly #known = new Map<string, Reach>();
  #knownAtVersion = 0;
  #knownUnder: AccessPolicy;
  #goesByMetadata: boolean;

  constructor(inForce: PolicyInForce, grant: Grant, registrations: Registrations, channelShare?: ChannelShare) {
    this.grant = grant;
    this.channelShare = channelShare;
    this.#inForce = inForce;
    this.#registrations = registrations;
    this.#knownUnder = inForce.policy;
    this.#goesByMetadata = goesByMetadata(inForce.policy);
  }

  get port(): string {
    return this.#inForce.port;
  }

  mayReach(functionId: string): boolean {
    return this.reach(functionId) === 'allowed';
  }

  reach(functionId: string): Reach {
    const { policy } = this.#inForce;
    if (policy !== this.#knownUnder) {
      this.#known.clear();
      this.#knownUnder = policy;
      this.#goesByMetadata = goesByMetadata(policy);
    }
    const { version } = this.#registrations;
    if (this.#goesByMetadata && version !== this.#knownAtVersion) {
      this.#known.clear();
      this.#knownAtVersion = version;
    }
    const known = this.#known.get(functionId);
    if (known !== undefined) return known;
    const reach = this.#decide(functionId);
    // A client that keeps asking for new ids must not fill the memory, and long texts are not ids.
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    if (functionId.length <= REMEMBERED_CHARS_MAX) this.#known.set(detach(functionId), reach);
    return reach;
  }

  mayBindTo(triggerType: string): boolean {
    const { policy } = this.#inForce;
    const types = (policy.isOfNoPort ? undefined : this.grant.triggerTypes) ?? policy.triggerTypes;
    return types === 'all' || types.has(triggerType);
  }

  /** Whether its jobs share the capacity, the slots and the groups of the queue with trusted jobs (Q6). */
  sharesQueue(queue: string): boolean {
    return this.#inForce.policy.sharedQueues.has(queue);
  }

  #decide(functionId: string): Reach {
    const { forbidden, allowed, allowedPatterns } = this.grant;
    if (functionId.startsWith(NEVER)) return 'never';
    if (this.#inForce.policy.isOfNoPort) return ALWAYS.has(functionId) ? 'allowed' : 'hidden';
    if (forbidden.has(functionId)) return 'forbidden';
    if (allowed.has(functionId) || ALWAYS.has(functionId)) return 'allowed';
    const granted = allowedPatterns.some((pattern) => exposes({ kind: 'id', pattern }, functionId, []));
    if (granted) return 'allowed';
    const metadata = this.#goesByMetadata ? this.#registrations.metadataOf(functionId) : [];
    return this.#inForce.policy.expose.some((filter) => exposes(filter, functionId, metadata)) ? 'allowed' : 'hidden';
  }
}

function goesByMetadata({ expose }: AccessPolicy): boolean {
  return expose.some(({ kind }) => kind === 'metadata');
}

const REMEMBERED_MAX = 512;
const REMEMBERED_CHARS_MAX = 256;

/** What an SDK cannot work without (wire 8.3). */
const ALWAYS: ReadonlySet<string> = new Set([
  'engine::channels::create',
  'engine::workers::register',
  ...['info', 'warn', 'error', 'debug', 'trace'].map((level) => `engine::log::${level}`),
  ...['get', 'set', 'get_all'].map((verb) => `engine::baggage::${verb}`),
]);

/** Only trusted connections start and stop programs of this machine, whatever a rule says (PD-30). */
const NEVER = 'worker::';

/** Whether the id lies under the prefix that was granted to this very connection, so that no other one may offer it. */
export function coversId({ grant: { functionPrefix } }: Access, functionId: string): boolean {
  return functionPrefix !== undefined && functionId.startsWith(`${functionPrefix}::`);
}

/** Whether both connections got the same prefix: then each may replace what the other one registered. */
export function isSamePrefix(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one !== '' && one === other;
}

/** Ids that no connection of a restricted port may register (X9), also while the module that has them is not loaded. */
export function isReserved(functionId: string): boolean {
  return MODULE_FUNCTIONS.has(functionId) || RESERVED.some((start) => functionId.startsWith(start));
}

/** `iii::` is what the engine's own `svc::` is called in drop-in mode. */
const RESERVED = ['engine::', 'state::', 'stream::', 'worker::', 'svc::', 'iii::', 'bridge.'];

const MODULE_FUNCTIONS: ReadonlySet<string> = new Set(['enqueue', 'publish']);

/** The same for trigger types: the provider of a type receives the triggers of trusted workers that name it. */
export function isReservedType(triggerType: string): boolean {
  return MODULE_TYPES.has(triggerType) || isReserved(triggerType);
}

const MODULE_TYPES: ReadonlySet<string> = new Set([
  'cron',
  'durable:subscriber',
  'event',
  'http',
  'log',
  'queue',
  'state',
  'stream',
  'stream:join',
  'stream:leave',
  'subscribe',
]);
