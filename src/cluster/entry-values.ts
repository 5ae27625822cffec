// The values of entries in the bucket of registrations: what routing needs of a registration. JSON of users is text in
// them, as its worker wrote it. Fields that this version does not know are ignored.

import type { KeptRights } from '../core/access/kept-rights.ts';

/** A function that workers of the engine offer. */
export interface FunctionValue {
  /** Where the key holds only its digest. */
  readonly id?: string;
  /** Rules about metadata read it. */
  readonly metadata?: string;
  /** Of its connections, if none is trusted. */
  readonly trust?: 'restricted' | 'granted';
  /** Where the order of registrations counts: the newest worker of the engine. */
  readonly by?: string;
  /** Where it counts: the revision in which the registration was first written, if not in this one. */
  readonly first?: number;
  /** Between engines: a digest of its description and schemas, which are asked for when they are shown. */
  readonly described?: string;
  /** Between routers of one process: what lists show. */
  readonly shown?: ShownFunction;
}

export interface ShownFunction {
  readonly description?: string;
  readonly request?: string;
  readonly response?: string;
  /** The ids of the connections that offer it. */
  readonly workers: readonly string[];
}

/**
 * A trigger type that a worker of the engine provides. One of a restricted connection has another kind: older engines
 * would take it for that of a trusted one.
 */
export interface TriggerTypeValue {
  readonly id?: string;
  readonly description: string;
  /** The connection that provides it. */
  readonly by: string;
  /** Of a restricted connection: the prefix of its functions. */
  readonly prefix?: string;
  /** The revision in which it was first written, if not in this one. */
  readonly first?: number;
}

/** A name that no restricted connection may take. */
export interface ReservationValue {
  /** Where the key holds only its digest. */
  readonly name?: string;
}

/** A trigger. One of a restricted connection has another kind: older engines would take it for a trusted one. */
export interface TriggerValue {
  readonly id?: string;
  /** The revision in which it was first written, if not in this one. */
  readonly first?: number;
  /** The connection that registered it: equal triggers of different owners count once. */
  readonly owner: string;
  /** The owner uses an SDK of the engine. */
  readonly sdk: boolean;
  /** Between routers of one process: it has no owner, and belongs to the first router. */
  readonly durable?: true;
  /** Its owner has removed it, and the entry is deleted next. Without this the owner has left, and may reconnect. */
  readonly taken_back?: true;
  readonly type: string;
  readonly function_id: string;
  readonly config: string;
  readonly metadata?: string;
  /** Of a restricted connection: what was granted to it. */
  readonly rights?: KeptRights;
  /** Of a restricted connection: the prefix of its functions. */
  readonly prefix?: string;
}
