// The rights that a job keeps of the connection that made it: the connection may be gone when the job runs, and the
// engine restarted (X7). They travel between engines and routers in the same form.
//
// What the auth function granted is kept as it was. The rules of the port are read when the job runs, as for every
// connection (X12). If the port no longer exists, nothing is allowed.

import { Access, type AccessPolicy, ANONYMOUS, type Grant, type PolicyInForce, type Registrations } from './access.ts';
import { readPattern } from './pattern.ts';

export interface KeptRights {
  /** The connection: while it is open, its current rights count. */
  workerId: string;
  /** The port it connected to: its `name` in the configuration, or host and port. */
  port: string;
  allowed?: string[];
  allowedPatterns?: string[];
  forbidden?: string[];
}

/** What was granted, without the connection to which it was. */
type GrantedRights = Omit<KeptRights, 'workerId'>;

export function keptRights(workerId: string, access: Access): KeptRights {
  return { workerId, ...grantedRights(access) };
}

function grantedRights({ port, grant }: Access): GrantedRights {
  const { allowed, allowedPatterns, forbidden } = grant;
  return {
    port,
    ...(allowed.size > 0 && { allowed: [...allowed] }),
    ...(allowedPatterns.length > 0 && { allowedPatterns: allowedPatterns.map(({ text }) => text) }),
    ...(forbidden.size > 0 && { forbidden: [...forbidden] }),
  };
}

/** The rights of a connection, as its router passes them to the first one with a call of a function of the engine. */
export interface ForwardedRights extends GrantedRights {
  /** Of the functions of the connection. */
  prefix?: string;
  /** Absent: those of the port. */
  triggerTypes?: string[];
}

export function forwardedRights(access: Access): ForwardedRights {
  const { functionPrefix: prefix, triggerTypes } = access.grant;
  return {
    ...grantedRights(access),
    ...(prefix !== undefined && { prefix }),
    ...(triggerTypes !== undefined && { triggerTypes: [...triggerTypes] }),
  };
}

/** The current rules of the restricted ports, by name. */
export class PortPolicies {
  readonly #inForce = new Set<PolicyInForce>();

  /** Returns a function that removes it. */
  add(inForce: PolicyInForce): () => void {
    this.#inForce.add(inForce);
    return () => this.#inForce.delete(inForce);
  }

  /** Whether jobs of the port share the queue with trusted jobs. */
  sharesQueue({ port }: KeptRights, queue: string): boolean {
    const named = [...this.#inForce].filter((one) => one.port === port);
    return named.length > 0 && named.every(({ policy }) => policy.sharedQueues.has(queue));
  }

  knows({ port }: KeptRights): boolean {
    return [...this.#inForce].some((one) => one.port === port);
  }

  /** `more`: what was granted besides. */
  restore(
    { port, allowed, allowedPatterns = [], forbidden }: GrantedRights,
    registrations: Registrations,
    more: Partial<Pick<Grant, 'functionPrefix' | 'triggerTypes'>> = {},
  ): Access {
    const policyOf = (): AccessPolicy => this.#policyOf(port);
    const inForce = {
      port,
      get policy() {
        return policyOf();
      },
    };
    const patterns = allowedPatterns.map(readPattern).flatMap((read) => (read.ok ? [read.pattern] : []));
    const grant = {
      ...ANONYMOUS,
      ...more,
      allowed: new Set(allowed),
      allowedPatterns: patterns,
      forbidden: new Set(forbidden),
    };
    return new Access(inForce, grant, registrations);
  }

  #policyOf(port: string): AccessPolicy {
    let found: AccessPolicy | undefined;
    for (const inForce of this.#inForce) {
      if (inForce.port !== port) continue;
      // Two ports whose numbers the system chose cannot be distinguished.
      if (found !== undefined) return NOTHING;
      found = inForce.policy;
    }
    return found ?? NOTHING;
  }
}

const NOTHING: AccessPolicy = { expose: [], triggerTypes: new Set(), sharedQueues: new Set(), isOfNoPort: true };
