// What all routes of the console API share: pages of lists, errors, and the headers beside an answer
// (console-and-cli.md 5). The engine answers in these shapes, console and command line read them.

/** Below the HTTP port of the engine; the console server offers the same below `/api`. */
export const API_PREFIX = '/_console/v1';

export const LIST_LIMIT_DEFAULT = 100;
export const LIST_LIMIT_MAX = 1_000;

export interface List<T> {
  items: T[];
  /** Hand it back as `cursor` for the next page; `null`: this was the last. */
  next_cursor: string | null;
  /** Of all pages; `null` where counting is not cheap. */
  total: number | null;
}

/** Every list takes these as query parameters; which `sort` words there are stands at each list. */
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
  /** A command that adds it, where there is one. */
  command?: string;
}

/** `error.details` of `CONFLICT` (409): the entry as it is now; `null` when it was deleted meanwhile. */
export interface ConflictDetails<T> {
  current: T | null;
}

/** On answers of `POST /invoke`, also on failures. */
export const INVOKE_HEADERS = {
  traceId: 'x-svc-trace-id',
  durationMs: 'x-svc-duration-ms',
  /** Percent-encoded. */
  worker: 'x-svc-worker',
} as const;

export interface Removed {
  removed: boolean;
}
