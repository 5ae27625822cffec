// What `engine::cluster::status` answers, and `svc cluster status` shows.

export interface WorkerCounts {
  readonly connected: number;
  /** Those that have functions and take calls. */
  readonly active: number;
}

export function sumOfWorkers(counts: readonly WorkerCounts[]): WorkerCounts {
  return {
    connected: counts.reduce((sum, { connected }) => sum + connected, 0),
    active: counts.reduce((sum, { active }) => sum + active, 0),
  };
}

export interface ClusterEngine {
  readonly id: string;
  /** Its first worker port. */
  readonly address: string;
  readonly version: string;
  readonly zone: string | null;
  /** `unreachable`: it renews its key, and this engine has no session with it. */
  readonly status: 'here' | 'up' | 'draining' | 'unreachable';
  /** Connected to it. Absent: its version does not report them. */
  readonly workers?: WorkerCounts;
  /** How many functions its workers offer. */
  readonly functions: number;
  /** Calls in flight on it, as it last reported. */
  readonly calls: number;
  /** Router threads of its process, if there are several. */
  readonly routers?: number;
}

export interface ClusterStatus {
  /** Why other engines cannot be reached; absent: they can. */
  readonly trouble?: string;
  readonly engines: readonly ClusterEngine[];
}
