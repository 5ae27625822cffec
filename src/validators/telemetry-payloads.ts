// Compiled checks of requests to the telemetry thread.

import typia from 'typia';
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

export const validateTracesList = typia.createValidate<TracesListPayload>();
export const validateTracesTree = typia.createValidate<TracesTreePayload>();
export const validateTracesSpan = typia.createValidate<TracesSpanPayload>();
export const validateTracesEdges = typia.createValidate<TracesEdgesPayload>();
export const validateTracesGroupBy = typia.createValidate<TracesGroupByPayload>();
export const validateTracesRuns = typia.createValidate<TracesRunsPayload>();
export const validateTracesPayloads = typia.createValidate<TracesPayloadsPayload>();
export const validateTracesFacets = typia.createValidate<TracesFacetsPayload>();
export const validateLogsList = typia.createValidate<LogsListPayload>();
export const validateLogsSearch = typia.createValidate<LogsSearchPayload>();
export const validateLogsHistogram = typia.createValidate<LogsHistogramPayload>();
export const validateLogsContext = typia.createValidate<LogsContextPayload>();
export const validateMetricsCalls = typia.createValidate<MetricsCallsPayload>();
export const validateMetricsJobs = typia.createValidate<MetricsJobsPayload>();
export const validateMetricsList = typia.createValidate<MetricsListPayload>();
export const validateRollupsList = typia.createValidate<RollupsListPayload>();
