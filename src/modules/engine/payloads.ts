// The payloads of the engine's own functions. `src/validators/module-payloads.ts` compiles these shapes.

import type { ReservedKind } from '../../core/access/reservations.ts';

export interface FunctionsListPayload {
  search?: string | null;
  prefix?: string | null;
  worker?: string | null;
  workers?: string[] | null;
  include_internal?: boolean | null;
}

export interface FunctionsInfoPayload {
  function_id?: string | null;
  function_ids?: string[] | null;
  namespace?: string | null;
}

export interface WorkersListPayload {
  search?: string | null;
  runtime?: string | null;
  status?: string | null;
  worker_id?: string | null;
}

export interface WorkersReplacePayload {
  previous_worker_id: string;
  reattach_token: string;
  /** Its connection to another router of this process. */
  successor_id?: string;
}

export interface WorkersRevokePayload {
  worker_id: string;
}

export interface ReservationPayload {
  kind: ReservedKind;
  name: string;
}

export interface ReservationsListPayload {
  kind?: ReservedKind | null;
  search?: string | null;
  offset?: number | null;
  limit?: number | null;
}

export interface WorkersInfoPayload {
  worker_id?: string | null;
  name?: string | null;
  namespace?: string | null;
}

export interface TriggerTypesListPayload {
  search?: string | null;
  prefix?: string | null;
  worker?: string | null;
  include_internal?: boolean | null;
}

/** The error as the provider of the trigger type gave it; absent: it accepts the trigger. */
export interface TriggersJudgedPayload {
  id: string;
  error?: unknown;
}

export interface IdPayload {
  id: string;
  namespace?: string | null;
}

export interface TriggersListPayload {
  search?: string | null;
  trigger_type?: string | null;
  function_id?: string | null;
  worker?: string | null;
  include_internal?: boolean | null;
}

export interface RegisterTriggerPayload {
  trigger_type?: string | null;
  /** Accepted in place of `trigger_type`. */
  type?: string | null;
  function_id: string;
  config?: unknown;
  metadata?: unknown;
  trigger_namespace?: string | null;
}

export interface ChannelsCreatePayload {
  /** Counted in frames. */
  buffer_size?: number | null;
}

export interface BackupPayload {
  /** A folder that does not exist yet. */
  path: string;
}

export interface UnregisterTriggerPayload {
  id: string;
  trigger_type?: string | null;
}

/** The fields that SDKs send; fields of other clients and later versions are ignored. */
export interface RegisterWorkerPayload {
  runtime?: string | null;
  version?: string | null;
  name?: string | null;
  description?: string | null;
  os?: string | null;
  pid?: number | null;
  isolation?: string | null;
  namespace?: string | null;
  max_in_flight?: number | null;
}

export interface FireTriggerPayload {
  id: string;
  /** If absent, the payload that the trigger would send by itself. */
  payload?: unknown;
}
