// What the functions of the engine about itself answer. `svc types generate` writes them for callers.

import type { Reservation } from '../../core/access/reservations.ts';
import type { ClusterStatus } from '../../core/cluster/status.ts';
import type { FunctionRow, TriggerRow, TriggerTypeRow, WorkerRow } from '../../router/registrations/rows.ts';
import type { JudgedAnswer } from '../../router/remote/report-verdict.ts';
import type { BackupList } from '../../store/directory/backup.ts';
import type { WorkersElsewhere } from '../workers-elsewhere.ts';

export interface EngineAnswers {
  'engine::channels::create': { writer: ChannelEnd; reader: ChannelEnd };
  'engine::cluster::status': ClusterStatus;
  'engine::config::reload': { changes: readonly string[] };
  'engine::functions::info': FunctionDetail | { functions: (FunctionDetail | MissingFunction)[] };
  'engine::functions::list': { functions: FunctionRow[] };
  'engine::health::check': Health;
  'engine::register_trigger': { id: string };
  'engine::registered-triggers::info': TriggerDetail;
  'engine::registered-triggers::list': { registered_triggers: TriggerRow[] };
  'engine::reservations::list': { reservations: Reservation[]; total: number };
  'engine::reservations::release': Success;
  'engine::stores::backup': BackupList;
  'engine::trigger-types::list': { trigger_types: OlderTriggerType[] };
  'engine::triggers::info': TriggerTypeDetail;
  'engine::triggers::judged': JudgedAnswer;
  'engine::triggers::list': { triggers: TriggerTypeRow[] };
  'engine::unregister_trigger': { removed: boolean };
  'engine::workers::info': WorkerDetail;
  'engine::workers::list': WorkersElsewhere & { timestamp: number };
  'engine::workers::register': Success;
  'engine::workers::replace': { functions: readonly string[] };
  'engine::workers::revoke': Success;
}

interface Success {
  success: true;
}

interface ChannelEnd {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: 'read' | 'write';
}

export interface FunctionDetail extends Omit<FunctionRow, 'request_format' | 'response_format'> {
  request_schema?: unknown;
  response_schema?: unknown;
  registered_triggers: Pick<TriggerRow, 'id' | 'trigger_type' | 'config' | 'status'>[];
}

interface MissingFunction {
  function_id: string;
  error: 'not_found' | 'forbidden';
}

type HealthWord = 'healthy' | 'degraded' | 'unhealthy';

/** `components` also has what modules add, such as the stores of telemetry. */
interface Health {
  status: HealthWord;
  components: {
    modules: unknown;
    router: { status: HealthWord; details: unknown };
    open_files?: { status: HealthWord; details?: unknown };
  };
  timestamp: number;
  version: string;
}

export interface TriggerTypeDetail extends TriggerTypeRow {
  configuration_schema?: unknown;
  request_schema?: unknown;
  instance_count: number;
}

interface TriggerDetail extends TriggerRow {
  trigger: TriggerTypeDetail | null;
  function: FunctionRow | null;
}

interface OlderTriggerType {
  id: string;
  description: string;
  trigger_request_format?: unknown;
  call_request_format?: unknown;
}

export interface WorkerDetail {
  worker: WorkerRow;
  functions: FunctionRow[];
  trigger_types: TriggerTypeRow[];
  registered_triggers: TriggerRow[];
  /** In a cluster: the other engine to which it is connected. */
  engine?: string;
}
