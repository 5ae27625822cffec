// The payloads of the functions of the telemetry thread. `src/validators/telemetry-payloads.ts` compiles these shapes;
// null counts as absent, because clients of other languages send it.

export interface TracesListPayload {
  trace_id?: string | null;
  trace_ids?: string[] | null;
  service_name?: string | null;
  name?: string | null;
  status?: string | null;
  min_duration_ms?: number | null;
  max_duration_ms?: number | null;
  start_time?: number | null;
  end_time?: number | null;
  sort_by?: 'duration' | 'duration_ms' | 'start_time' | 'name' | 'service_name' | null;
  sort_order?: 'asc' | 'desc' | null;
  attributes?: [string, string][] | null;
  exclude_attributes?: [string, string][] | null;
  search_all_spans?: boolean | null;
  include_internal?: boolean | null;
  offset?: number | null;
  limit?: number | null;
}

export interface TracesTreePayload {
  trace_id: string;
  /** Levels below the roots. */
  max_depth?: number | null;
  /** Only spans below this one. */
  parent?: string | null;
}

export interface TracesSpanPayload {
  trace_id: string;
  span_id: string;
}

export interface TracesEdgesPayload {
  start_time?: number | null;
  end_time?: number | null;
}

export interface TracesGroupByPayload {
  attribute: string;
  since_ms?: number | null;
  limit?: number | null;
  include_internal?: boolean | null;
  label_attribute?: string | null;
  parts?: number | null;
}

export interface TracesFacetsPayload {
  key?: string | null;
  search?: string | null;
  limit?: number | null;
  values_limit?: number | null;
}

export interface LogsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  trace_id?: string | null;
  span_id?: string | null;
  severity_min?: number | null;
  severity_text?: string | null;
  offset?: number | null;
  limit?: number | null;
}

export interface LogsFilterPayload {
  query?: string | null;
  start_time?: number | null;
  end_time?: number | null;
  trace_id?: string | null;
  span_id?: string | null;
  severity_min?: number | null;
  severities?: string[] | null;
  services?: string[] | null;
}

export interface LogsSearchPayload extends LogsFilterPayload {
  order?: 'asc' | 'desc' | null;
  offset?: number | null;
  limit?: number | null;
}

export interface LogsHistogramPayload extends LogsFilterPayload {
  buckets?: number | null;
}

export interface LogsContextPayload {
  log_id: number;
  before?: number | null;
  after?: number | null;
}

export interface MetricsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  metric_name?: string | null;
  /** Seconds. */
  aggregate_interval?: number | null;
}

export interface RollupsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  level?: number | null;
  metric_name?: string | null;
}
