// Compiled checks of requests to the console API: query parameters, bodies, and frames of the live socket.

import typia from 'typia';
import type { ListQuery } from '../console/api/envelope.ts';
import type { FlowLayoutPut, FlowQuery } from '../console/api/flow.ts';
import type { LiveRequest } from '../console/api/live.ts';
import type { BulkRequest, JobsQuery, PublishRequest, QueuesQuery } from '../console/api/queues.ts';
import type {
  EmitRequest,
  FireRequest,
  FunctionsQuery,
  InvokeRequest,
  TriggersQuery,
  WorkersQuery,
} from '../console/api/registry.ts';
import type { ScopesQuery, StateItemsQuery, StatePut, StateUpdateRequest } from '../console/api/states.ts';
import type { StreamPut, StreamSendRequest, StreamsQuery } from '../console/api/streams.ts';
import type {
  CallsQuery,
  JobCountsQuery,
  LogHistogramRequest,
  LogSearch,
  MetricsQuery,
  RollupsQuery,
  RunsQuery,
  TraceQuery,
  TraceSearch,
} from '../console/api/telemetry.ts';

export const validateListQuery = typia.createValidateEquals<ListQuery>();
export const validateFunctionsQuery = typia.createValidateEquals<FunctionsQuery>();
export const validateTriggersQuery = typia.createValidateEquals<TriggersQuery>();
export const validateWorkersQuery = typia.createValidateEquals<WorkersQuery>();
export const validateQueuesQuery = typia.createValidateEquals<QueuesQuery>();
export const validateJobsQuery = typia.createValidateEquals<JobsQuery>();
export const validateScopesQuery = typia.createValidateEquals<ScopesQuery>();
export const validateStateItemsQuery = typia.createValidateEquals<StateItemsQuery>();
export const validateStreamsQuery = typia.createValidateEquals<StreamsQuery>();
export const validateTraceQuery = typia.createValidateEquals<TraceQuery>();
export const validateMetricsQuery = typia.createValidateEquals<MetricsQuery>();
export const validateRollupsQuery = typia.createValidateEquals<RollupsQuery>();
export const validateFlowQuery = typia.createValidateEquals<FlowQuery>();
export const validateNoQuery = typia.createValidateEquals<Record<string, never>>();
export const validateVersionQuery = typia.createValidateEquals<{ if_version?: string }>();
export const validateJobCountsQuery = typia.createValidateEquals<JobCountsQuery>();
export const validateCallsQuery = typia.createValidateEquals<CallsQuery>();
export const validateRunsQuery = typia.createValidateEquals<RunsQuery>();
export const validateRangeQuery = typia.createValidateEquals<{ start_time?: number; end_time?: number }>();
export const validateExportQuery = typia.createValidateEquals<{ format?: 'otlp' | 'chrome' }>();

export const validateInvoke = typia.createValidateEquals<InvokeRequest>();
export const validateFire = typia.createValidateEquals<FireRequest>();
export const validateEmit = typia.createValidateEquals<EmitRequest>();
export const validatePublish = typia.createValidateEquals<PublishRequest>();
export const validateBulk = typia.createValidateEquals<BulkRequest>();
export const validateStatePut = typia.createValidateEquals<StatePut>();
export const validateStateUpdate = typia.createValidateEquals<StateUpdateRequest>();
export const validateStreamPut = typia.createValidateEquals<StreamPut>();
export const validateStreamSend = typia.createValidateEquals<StreamSendRequest>();
export const validateTraceSearch = typia.createValidateEquals<TraceSearch>();
export const validateLogSearch = typia.createValidateEquals<LogSearch>();
export const validateLogHistogram = typia.createValidateEquals<LogHistogramRequest>();
export const validateFlowLayout = typia.createValidateEquals<FlowLayoutPut>();
export const validateEmpty = typia.createValidateEquals<Record<string, never>>();

export const validateLiveRequest = typia.createValidateEquals<LiveRequest>();
