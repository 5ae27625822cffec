// The payloads of functions that run on the router's thread. `src/validators/module-payloads.ts` compiles these.

export interface LogPayload {
  message: string;
  data?: unknown;
  trace_id?: string | null;
  span_id?: string | null;
  service_name?: string | null;
}

export interface AlertsMeasurePayload {
  windows: { rule: string; metric: string; window_seconds: number }[];
}

export interface BaggageGetPayload {
  key: string;
}

export interface BaggageSetPayload {
  key: string;
  value: string;
}
