// Every route of the console API: its request and its answer. `{id}` stands for one percent-encoded part of the path. A
// client types its calls by this table, and tests compare the engine's answers with it.

import type { CallsAnswer, JobsAnswer } from '../../core/telemetry/metrics/call-answers.ts';
import type { PayloadsAnswer } from '../../core/telemetry/payloads/payloads-answer.ts';
import type { Run } from '../../core/telemetry/spans/runs.ts';
import type { List, ListQuery, Removed } from './envelope.ts';
import type { FlowGraph, FlowLayout, FlowLayoutPut, FlowQuery } from './flow.ts';
import type {
  BulkRequest,
  DeadGroups,
  JobDetail,
  JobRow,
  JobsQuery,
  Paused,
  Published,
  PublishRequest,
  QueueDetail,
  QueueGroups,
  QueueRow,
  QueuesQuery,
  Task,
  TaskStarted,
} from './queues.ts';
import type {
  EmitRequest,
  Emitted,
  Fired,
  FireRequest,
  FunctionDetail,
  FunctionRow,
  FunctionsQuery,
  InvokeRequest,
  TriggerDetail,
  TriggerRow,
  TriggersQuery,
  TriggerTypes,
  WorkerDetail,
  WorkerRow,
  WorkersQuery,
} from './registry.ts';
import type {
  ScopeRow,
  ScopesQuery,
  StateItem,
  StateItemsQuery,
  StatePut,
  StateRow,
  StateUpdated,
  StateUpdateRequest,
} from './states.ts';
import type {
  StreamChanged,
  StreamGroupRow,
  StreamItem,
  StreamItemRow,
  StreamPut,
  StreamRow,
  StreamSendRequest,
  StreamSubscriberRow,
  StreamsQuery,
} from './streams.ts';
import type { Config, ConfigSchema, Status } from './system.ts';
import type {
  Alerts,
  AlertsEvaluated,
  CallsQuery,
  Cleared,
  JobCountsQuery,
  LogHistogram,
  LogHistogramRequest,
  LogRow,
  LogSearch,
  Metrics,
  MetricsQuery,
  RetainedList,
  Rollups,
  RollupsQuery,
  RunsQuery,
  Sampling,
  SpanRow,
  TraceDetail,
  TraceExportFormat,
  TraceFacets,
  TraceQuery,
  TraceRow,
  TraceSearch,
} from './telemetry.ts';

interface Get<Answer, Query = Record<string, never>> {
  query: Query;
  answer: Answer;
}

interface Send<Body, Answer> {
  body: Body;
  answer: Answer;
}

export interface Routes {
  'GET /status': Get<Status>;
  'GET /config': Get<Config>;
  'GET /config/schema': Get<ConfigSchema>;

  'GET /functions': Get<List<FunctionRow>, FunctionsQuery>;
  'GET /functions/{id}/runs': Get<RetainedList<Run>, RunsQuery>;
  'GET /functions/{id}': Get<FunctionDetail, { start_time?: number; end_time?: number }>;
  /** Answers the bare result, or an `EnqueueReceipt`. */
  'POST /invoke': Send<InvokeRequest, unknown>;

  'GET /triggers': Get<List<TriggerRow>, TriggersQuery>;
  'GET /triggers/{id}': Get<TriggerDetail>;
  'GET /trigger-types': Get<TriggerTypes>;
  'POST /triggers/{id}/fire': Send<FireRequest, Fired>;
  'POST /events/emit': Send<EmitRequest, Emitted>;

  'GET /workers': Get<List<WorkerRow>, WorkersQuery>;
  'GET /workers/{id}': Get<WorkerDetail>;

  'GET /queues': Get<List<QueueRow>, QueuesQuery>;
  'GET /queues/{queue}': Get<QueueDetail>;
  'GET /queues/{queue}/jobs': Get<List<JobRow>, JobsQuery>;
  'GET /queues/{queue}/jobs/{id}': Get<JobDetail>;
  'GET /queues/{queue}/groups': Get<QueueGroups>;
  'POST /queues/{queue}/publish': Send<PublishRequest, Published>;
  'POST /queues/{queue}/pause': Send<Record<string, never>, Paused>;
  'POST /queues/{queue}/resume': Send<Record<string, never>, Paused>;
  /** `{queue}` may be `*`: all queues. */
  'POST /queues/{queue}/dlq/redrive': Send<BulkRequest, TaskStarted>;
  'POST /queues/{queue}/dlq/purge': Send<BulkRequest, TaskStarted>;
  'GET /queues/{queue}/dlq/groups': Get<DeadGroups>;
  'GET /tasks/{id}': Get<Task>;
  'DELETE /tasks/{id}': Get<Task>;

  'GET /states/scopes': Get<List<ScopeRow>, ScopesQuery>;
  'GET /states/{scope}/items': Get<List<StateRow>, StateItemsQuery>;
  'GET /states/{scope}/items/{key}': Get<StateItem>;
  'PUT /states/{scope}/items/{key}': Send<StatePut, StateItem>;
  'DELETE /states/{scope}/items/{key}': Get<Removed, { if_version?: string }>;
  'POST /states/{scope}/items/{key}/update': Send<StateUpdateRequest, StateUpdated>;

  'GET /streams': Get<List<StreamRow>, StreamsQuery>;
  'GET /streams/{stream}/groups': Get<List<StreamGroupRow>, ListQuery>;
  'GET /streams/{stream}/{group}/items': Get<List<StreamItemRow>, ListQuery>;
  'GET /streams/{stream}/{group}/items/{id}': Get<StreamItem>;
  'GET /streams/{stream}/{group}/subscribers': Get<List<StreamSubscriberRow>, ListQuery>;
  'PUT /streams/{stream}/{group}/items/{id}': Send<StreamPut, StreamChanged>;
  'DELETE /streams/{stream}/{group}/items/{id}': Get<Removed>;
  'POST /streams/send': Send<StreamSendRequest, { result: null }>;

  'POST /traces/search': Send<TraceSearch, RetainedList<TraceRow>>;
  'GET /traces/facets': Get<TraceFacets, { start_time?: number; end_time?: number }>;
  'GET /traces/{id}': Get<TraceDetail, TraceQuery>;
  'GET /traces/{id}/spans/{span}': Get<SpanRow>;
  'GET /traces/{id}/spans/{span}/payloads': Get<PayloadsAnswer>;
  'GET /traces/{id}/export': Get<unknown, { format?: TraceExportFormat }>;
  'DELETE /traces': Get<Cleared>;

  'POST /logs/search': Send<LogSearch, RetainedList<LogRow>>;
  'POST /logs/histogram': Send<LogHistogramRequest, LogHistogram>;
  'DELETE /logs': Get<Cleared>;

  'GET /calls': Get<CallsAnswer, CallsQuery>;
  'GET /job-counts': Get<JobsAnswer, JobCountsQuery>;
  'GET /metrics': Get<Metrics, MetricsQuery>;
  'GET /rollups': Get<Rollups, RollupsQuery>;
  'GET /alerts': Get<Alerts>;
  'POST /alerts/evaluate': Send<Record<string, never>, AlertsEvaluated>;
  'GET /sampling': Get<Sampling>;

  'GET /flow/graph': Get<FlowGraph, FlowQuery>;
  'GET /flow/layout/{id}': Get<FlowLayout>;
  'PUT /flow/layout/{id}': Send<FlowLayoutPut, FlowLayout>;
}

export type RouteName = keyof Routes;

export type AnswerOf<R extends RouteName> = Routes[R]['answer'];
export type BodyOf<R extends RouteName> = Routes[R] extends { body: infer Body } ? Body : undefined;
export type QueryOf<R extends RouteName> = Routes[R] extends { query: infer Query } ? Query : undefined;
