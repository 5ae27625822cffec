// What all routes of the console API share: pages of lists, errors, and the headers of an answer. The engine answers in
// these shapes, and the console and the command line read them.

/** Under the HTTP port of the engine. The console server offers the same routes under `/api`. */
export const API_PREFIX = '/_console/v1';

export const LIST_LIMIT_DEFAULT = 100;
export const LIST_LIMIT_MAX = 1_000;

export interface List<T> {
  items: T[];
  /** Send it as `cursor` to get the next page. `null`: this was the last page. */
  next_cursor: string | null;
  /** Of all pages. `null` where counting is expensive. */
  total: number | null;
}

/** Every list takes these query parameters. Each list names its `sort` words. */
export interface ListQuery {
  limit?: number;
  cursor?: string;
  sort?: string;
  order?: 'asc' | 'desc';
}

export interface ApiError {
  code: string;
  message: string;
  doc_url?: string;
  details?: unknown;
}

export interface ErrorEnvelope {
  error: ApiError;
}

/**
 * `error.details` of the code `MODULE_MISSING` (404): what to add so that the route works. The page shows it as an
 * empty state (EMP-2).
 */
export interface MissingModule {
  module: string;
  /** YAML for the configuration file. */
  snippet: string;
  /** A command that adds it, if there is one. */
  command?: string;
}

/** `error.details` of `CONFLICT` (409): the entry as it is now, `null` when it was deleted in the meantime. */
export interface ConflictDetails<T> {
  current: T | null;
}

/** Sent with answers of `POST /invoke`, also with failures. */
export const INVOKE_HEADERS = {
  traceId: 'x-svc-trace-id',
  durationMs: 'x-svc-duration-ms',
  /** Percent-encoded. */
  worker: 'x-svc-worker',
} as const;

export interface Removed {
  removed: boolean;
}

/** The kind of a JSON value, as tables show it. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface ModuleRef {
  id: string;
  name: string;
}
