// What one connection of a restricted port may reach (X5, X7). Pure: policy and grant in, verdicts out.
//
// Job: one place that says yes or no, for every way in. A trusted connection has no `Access` at all.
// Neighbours: `modules/worker-manager` makes one per connection; `router/reach.ts` asks it.
// Invariants:
//   A1  Nothing is reachable that no rule names: what is unknown is hidden (X5).
//   A2  A verdict goes by the id that will run, and does not tell whether a hidden function exists (X10).
//   A3  A remembered verdict never outlives the registrations and the policy it went by.

import { detach } from '../protocol/byte-string.ts';
import { type ExposeFilter, exposes } from './expose-filter.ts';
import type { Pattern } from './pattern.ts';

/** What the configuration of the port says, for all of its connections. Another configuration is another policy. */
export interface AccessPolicy {
  readonly expose: readonly ExposeFilter[];
  readonly triggerTypes: ReadonlySet<string>;
}

/** Where a connection finds the policy that holds now (X12). */
export interface PolicyInForce {
  /** Names it over restarts: host and port as they are configured. */
  readonly port: string;
  readonly policy: AccessPolicy;
}

/** What the auth function said of one connection; `ANONYMOUS` where there is none. */
export interface Grant {
  readonly allowed: ReadonlySet<string>;
  readonly allowedPatterns: readonly Pattern[];
  readonly forbidden: ReadonlySet<string>;
  /** `undefined`: those of the policy. */
  readonly triggerTypes: ReadonlySet<string> | undefined;
  readonly mayRegisterFunctions: boolean;
  readonly mayRegisterTriggerTypes: boolean;
  readonly functionPrefix: string | undefined;
  /** Handed to hooks and middleware. */
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

/** The functions there are, as far as verdicts go by them. */
export interface Registrations {
  /** Another number whenever a function came, went or changed. */
  readonly version: number;
  /** What each registration of the function carries as its metadata; empty if there is no such function. */
  metadataOf(functionId: string): readonly unknown[];
}

/** `forbidden`: by name, whatever else allows it. `hidden`: nothing allows it. `never`: nothing can. */
export type Reach = 'allowed' | 'forbidden' | 'hidden' | 'never';

export class Access {
  readonly grant: Grant;
  readonly #inForce: PolicyInForce;
  readonly #registrations: Registrations;
  readonly #known = new Map<string, Reach>();
  #knownAtVersion = 0;
  #knownUnder: AccessPolicy;
  #goesByMetadata: boolean;

  constructor(inForce: PolicyInForce, grant: Grant, registrations: Registrations) {
    this.grant = grant;
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
    // Whoever asks for ever new ids must not fill the memory, and long texts are no ids.
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    if (functionId.length <= REMEMBERED_CHARS_MAX) this.#known.set(detach(functionId), reach);
    return reach;
  }

  mayBindTo(triggerType: string): boolean {
    return (this.grant.triggerTypes ?? this.#inForce.policy.triggerTypes).has(triggerType);
  }

  #decide(functionId: string): Reach {
    const { forbidden, allowed, allowedPatterns } = this.grant;
    if (functionId.startsWith(NEVER)) return 'never';
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

/** What an SDK cannot do without (wire 8.3). */
const ALWAYS: ReadonlySet<string> = new Set([
  'engine::channels::create',
  'engine::workers::register',
  ...['info', 'warn', 'error', 'debug', 'trace'].map((level) => `engine::log::${level}`),
  ...['get', 'set', 'get_all'].map((verb) => `engine::baggage::${verb}`),
]);

/** Programs of this machine are started and stopped by those who are trusted, whatever a rule says (decisions 30). */
const NEVER = 'worker::';

/** Ids that no connection of a restricted port may register (X9). */
export function isReserved(functionId: string): boolean {
  return RESERVED.some((start) => functionId.startsWith(start));
}

const RESERVED = ['engine::', 'state::', 'stream::', 'worker::'];
