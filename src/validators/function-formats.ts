// JSON schemas of the engine's own functions, made from the types that their payloads are checked against and that
// their answers have. Functions whose module describes them itself are absent (src/modules/function-formats.ts).

import typia from 'typia';
import type { BuiltinAnswers } from '../console/api/builtin-answers.ts';
import type { EngineAnswers } from '../modules/engine/answers.ts';
import type {
  BackupPayload,
  ChannelsCreatePayload,
  FireTriggerPayload,
  FunctionsInfoPayload,
  FunctionsListPayload,
  IdPayload,
  RegisterTriggerPayload,
  RegisterWorkerPayload,
  ReservationPayload,
  ReservationsListPayload,
  TriggersJudgedPayload,
  TriggersListPayload,
  TriggerTypesListPayload,
  UnregisterTriggerPayload,
  WorkersInfoPayload,
  WorkersListPayload,
  WorkersReplacePayload,
  WorkersRevokePayload,
} from '../modules/engine/payloads.ts';
import type { EmitPayload } from '../modules/events/bus.ts';
import type { ObservabilityAnswers } from '../modules/observability/answers.ts';
import type {
  AlertsMeasurePayload,
  BaggageGetPayload,
  BaggageSetPayload,
  LogPayload,
} from '../modules/observability/payloads.ts';
import type { ProjectWorkerAnswers } from '../modules/project-workers/answers.ts';
import type { AddWorker, NameWorker, ReadLogs, StopWorker } from '../modules/project-workers/payloads.ts';
import type { QueueAnswers } from '../modules/queue/function-answers.ts';
import type {
  GroupsPayload,
  JobPayload,
  JobsPayload,
  MessagePayload,
  MovesPayload,
  NothingPayload,
  ProgressPayload,
  QueuePayload,
  RecoverPayload,
  TopicPagePayload,
} from '../modules/queue/function-payloads.ts';
import type { TelemetryAnswers } from '../telemetry/functions/definition.ts';
import type {
  LogsContextPayload,
  LogsHistogramPayload,
  LogsListPayload,
  LogsSearchPayload,
  MetricsCallsPayload,
  MetricsJobsPayload,
  MetricsListPayload,
  RollupsListPayload,
  TracesEdgesPayload,
  TracesFacetsPayload,
  TracesGroupByPayload,
  TracesListPayload,
  TracesPayloadsPayload,
  TracesRunsPayload,
  TracesSpanPayload,
  TracesTreePayload,
} from '../telemetry/functions/payloads.ts';

/** What they take. */
export interface FunctionRequests {
  'engine::alerts::evaluate': NothingPayload;
  'engine::alerts::list': NothingPayload;
  'engine::alerts::measure': AlertsMeasurePayload;
  'engine::baggage::get': BaggageGetPayload;
  'engine::baggage::get_all': NothingPayload;
  'engine::baggage::set': BaggageSetPayload;
  'engine::channels::create': ChannelsCreatePayload;
  'engine::cluster::status': NothingPayload;
  'engine::config::reload': NothingPayload;
  'engine::events::emit': EmitPayload;
  'engine::functions::info': FunctionsInfoPayload;
  'engine::functions::list': FunctionsListPayload;
  'engine::health::check': NothingPayload;
  'engine::log::debug': LogPayload;
  'engine::log::error': LogPayload;
  'engine::log::info': LogPayload;
  'engine::log::trace': LogPayload;
  'engine::log::warn': LogPayload;
  'engine::logs::clear': NothingPayload;
  'engine::logs::context': LogsContextPayload;
  'engine::logs::histogram': LogsHistogramPayload;
  'engine::logs::list': LogsListPayload;
  'engine::logs::search': LogsSearchPayload;
  'engine::metrics::calls': MetricsCallsPayload;
  'engine::metrics::jobs': MetricsJobsPayload;
  'engine::metrics::list': MetricsListPayload;
  'engine::metrics::prometheus': NothingPayload;
  'engine::queue::dlq_groups': QueuePayload;
  'engine::queue::dlq_messages': TopicPagePayload;
  'engine::queue::dlq_topics': NothingPayload;
  'engine::queue::groups': GroupsPayload;
  'engine::queue::job': JobPayload;
  'engine::queue::job_payload': JobPayload;
  'engine::queue::jobs': JobsPayload;
  'engine::queue::list': NothingPayload;
  'engine::queue::list_topics': NothingPayload;
  'engine::queue::pause': QueuePayload;
  'engine::queue::progress': ProgressPayload;
  'engine::queue::recovery': NothingPayload;
  'engine::queue::resume': QueuePayload;
  'engine::queue::topic_stats': QueuePayload;
  'engine::register_trigger': RegisterTriggerPayload;
  'engine::registered-triggers::info': IdPayload;
  'engine::registered-triggers::list': TriggersListPayload;
  'engine::reservations::list': ReservationsListPayload;
  'engine::reservations::release': ReservationPayload;
  'engine::rollups::list': RollupsListPayload;
  'engine::sampling::rules': NothingPayload;
  'engine::stores::backup': BackupPayload;
  'engine::traces::clear': NothingPayload;
  'engine::traces::edges': TracesEdgesPayload;
  'engine::traces::facets': TracesFacetsPayload;
  'engine::traces::group_by': TracesGroupByPayload;
  'engine::traces::list': TracesListPayload;
  'engine::traces::payloads': TracesPayloadsPayload;
  'engine::traces::runs': TracesRunsPayload;
  'engine::traces::span': TracesSpanPayload;
  'engine::traces::tree': TracesTreePayload;
  'engine::trigger-types::list': TriggerTypesListPayload;
  'engine::triggers::fire': FireTriggerPayload;
  'engine::triggers::info': IdPayload;
  'engine::triggers::judged': TriggersJudgedPayload;
  'engine::triggers::list': TriggerTypesListPayload;
  'engine::unregister_trigger': UnregisterTriggerPayload;
  'engine::workers::info': WorkersInfoPayload;
  'engine::workers::list': WorkersListPayload;
  'engine::workers::register': RegisterWorkerPayload;
  'engine::workers::replace': WorkersReplacePayload;
  'engine::workers::revoke': WorkersRevokePayload;
  'svc::queue::discard_message': MessagePayload;
  'svc::queue::purge': MovesPayload;
  'svc::queue::recover': RecoverPayload;
  'svc::queue::redrive': MovesPayload;
  'svc::queue::redrive_message': MessagePayload;
  'worker::add': AddWorker;
  'worker::list': NothingPayload;
  'worker::logs': ReadLogs;
  'worker::remove': StopWorker;
  'worker::restart': StopWorker;
  'worker::start': NameWorker;
  'worker::status': NameWorker;
  'worker::stop': StopWorker;
}

/** What they answer, except for state and streams: their modules describe it. */
export interface FunctionAnswers
  extends TelemetryAnswers,
    EngineAnswers,
    ObservabilityAnswers,
    QueueAnswers,
    ProjectWorkerAnswers,
    Omit<BuiltinAnswers, DescribedByModule | keyof EngineAnswers | keyof QueueAnswers> {}

type DescribedByModule = Extract<keyof BuiltinAnswers, `state::${string}` | `stream::${string}`>;

/** One schema each, whose properties are the functions. */
export const REQUESTS = typia.json.schema<FunctionRequests>();
export const ANSWERS = typia.json.schema<FunctionAnswers>();
