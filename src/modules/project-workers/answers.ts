// What `worker::…` answers (modules 18). Times are in milliseconds, or as ISO 8601.

import type { OutputLine } from '../../core/workers/output-lines.ts';
import type { SupervisedState } from '../../core/workers/supervision.ts';
import type { NewEntry } from '../../core/workers/worker-manifest.ts';

export interface ProjectWorkerAnswers {
  'worker::add': AddedWorker;
  'worker::list': { workers: WorkerStatus[] };
  'worker::logs': { name: string; lines: readonly OutputLine[]; dropped: number };
  'worker::remove': { removed: true; name: string };
  'worker::restart': WorkerStatus;
  'worker::start': WorkerStatus;
  'worker::status': WorkerStatus;
  'worker::stop': WorkerStatus;
}

export interface WorkerStatus extends DescribedWorker {
  functions: string[];
}

/** Without its functions, which the registry knows. */
export interface DescribedWorker {
  name: string;
  path: string;
  state: SupervisedState;
  version?: string;
  description?: string;
  kind?: string;
  tags?: readonly string[];
  pid: number | null;
  started_at: string | null;
  restarts: number;
  last_end: string | null;
  rss_bytes: number | null;
  cpu_ms: number | null;
}

/** A module that was added has no process to describe. */
export interface AddedWorker extends Partial<WorkerStatus> {
  added: boolean;
  entry: NewEntry;
  /** Null: the engine has no configuration file. */
  file: string | null;
}
