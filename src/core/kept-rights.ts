// What a job keeps of the rights of whoever made it: he may be gone when it runs, and the engine another one (X7).
//
// What the auth function granted is kept as it was; what the port says is asked when the job runs, as for everybody who
// is connected (X12). Of a port that is not there any more nobody can say what it allows: nothing then.

import { Access, type AccessPolicy, ANONYMOUS, type PolicyInForce, type Registrations } from './access.ts';
import { readPattern } from './pattern.ts';

export interface KeptRights {
  /** His connection: while it is open its rights count, as they are. */
  workerId: string;
  /** Where he came in. */
  port: string;
  allowed?: string[];
  allowedPatterns?: string[];
  forbidden?: string[];
}

export function keptRights(workerId: string, { port, grant }: Access): KeptRights {
  const { allowed, allowedPatterns, forbidden } = grant;
  return {
    workerId,
    port,
    ...(allowed.size > 0 && { allowed: [...allowed] }),
    ...(allowedPatterns.length > 0 && { allowedPatterns: allowedPatterns.map(({ text }) => text) }),
    ...(forbidden.size > 0 && { forbidden: [...forbidden] }),
  };
}

/** What the ports for browsers say now, by name. */
export class PortPolicies {
  readonly #inForce = new Set<PolicyInForce>();

  /** Returns how to take it back. */
  add(inForce: PolicyInForce): () => void {
    this.#inForce.add(inForce);
    return () => this.#inForce.delete(inForce);
  }

  restore({ port, allowed, allowedPatterns = [], forbidden }: KeptRights, registrations: Registrations): Access {
    const named = [...this.#inForce].filter((one) => one.port === port);
    const [inForce] = named;
    // Two that the system gave their numbers cannot be told apart.
    if (inForce === undefined || named.length > 1)
      return new Access({ port, policy: NOTHING }, ANONYMOUS, registrations);
    const patterns = allowedPatterns.map(readPattern).flatMap((read) => (read.ok ? [read.pattern] : []));
    const grant = {
      ...ANONYMOUS,
      allowed: new Set(allowed),
      allowedPatterns: patterns,
      forbidden: new Set(forbidden),
    };
    return new Access(inForce, grant, registrations);
  }
}

const NOTHING: AccessPolicy = { expose: [], triggerTypes: new Set() };
