// The flow graph, which the engine derives from registrations and stored traces.

export interface FlowNode {
  /** `trigger:<id>`, `function:<id>`, `queue:<name>`, `state:<scope>`, `stream:<name>`, `topic:<name>`. */
  id: string;
  kind: 'trigger' | 'function' | 'queue' | 'state' | 'stream' | 'topic';
  label: string;
  namespace: string | null;
  worker: string | null;
  trigger_type: string | null;
  /** Only of HTTP triggers. */
  method: string | null;
  status: 'ok' | 'error' | 'inactive';
  internal: boolean;
}

export interface FlowEdge {
  id: string;
  from: string;
  to: string;
  /** `registered` is solid; `seen` was derived from traces. */
  kind: 'registered' | 'seen';
  calls_per_minute: number | null;
  error_rate: number | null;
}

export interface FlowQuery {
  start_time?: number;
  end_time?: number;
  internal?: boolean;
}

export interface FlowGraph {
  nodes: FlowNode[];
  edges: FlowEdge[];
  /** Whether there were traces to derive edges from. */
  has_traces: boolean;
}

export interface FlowLayout {
  id: string;
  /** What the page stored. `null`: nothing yet. */
  config: unknown;
}

export interface FlowLayoutPut {
  config: unknown;
}
