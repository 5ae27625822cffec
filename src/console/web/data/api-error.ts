// An error answer of the engine or the console server, with everything that a report of it needs (APP-14).

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly doc_url?: string;
  readonly details?: unknown;
  readonly stacktrace?: string;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestText?: string;
  readonly status: number;
  readonly responseText: string;
  readonly traceId?: string;
}

export class ApiError extends Error {
  readonly code: string;
  readonly docUrl: string | undefined;
  readonly details: unknown;
  readonly stacktrace: string | undefined;
  readonly exchange: Exchange;

  constructor(body: ErrorBody, exchange: Exchange) {
    super(body.message);
    this.name = 'ApiError';
    this.code = body.code;
    this.docUrl = body.doc_url;
    this.details = body.details;
    this.stacktrace = body.stacktrace;
    this.exchange = exchange;
  }

  get traceId(): string | undefined {
    return this.exchange.traceId;
  }
}

/** The error that an answer describes. An answer that is not JSON is shown unchanged. */
export function errorOf(exchange: Exchange): ApiError {
  return new ApiError(bodyOf(exchange), exchange);
}

function bodyOf({ status, responseText }: Exchange): ErrorBody {
  try {
    const body: unknown = JSON.parse(responseText);
    if (typeof body === 'object' && body !== null && 'error' in body) {
      const { error } = body;
      if (typeof error === 'object' && error !== null) {
        const { code, message, ...rest } = error as Partial<ErrorBody>;
        return { code: code ?? `HTTP_${status}`, message: message ?? `The answer had status ${status}`, ...rest };
      }
    }
  } catch {
    // Handled below.
  }
  const text = responseText.trim();
  return { code: `HTTP_${status}`, message: text === '' ? `The answer had status ${status}` : text.slice(0, 500) };
}

/** The object does not exist, or no longer exists. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.exchange.status === 404 && error.code !== 'MODULE_MISSING';
}
