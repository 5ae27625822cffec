// Every error code of the engine: its meaning, its HTTP status, and whether the same call may be repeated. Codes raised
// by a handler pass through and are not listed.

export interface ErrorCodeDetails {
  readonly meaning: string;
  readonly httpStatus: number;
  readonly retryable: boolean;
}

/**
 * The code as people see it, in one form. On the wire and in HTTP bodies some codes of the engine are in lower case,
 * which clients rely on; codes of handlers are shown as they are, and `enqueue_error` is a name of its own.
 */
export function shownCode(code: string): string {
  return Object.hasOwn(ERROR_CODES, code) && code !== 'enqueue_error' ? code.toUpperCase() : code;
}

export const ERROR_CODES = {
  BAD_REQUEST: { meaning: 'The input breaks a rule; the message names it.', httpStatus: 400, retryable: false },
  bridge_error: {
    meaning: 'The other engine of a bridge is away, or was lost during the call.',
    httpStatus: 502,
    retryable: false,
  },
  deserialization_error: {
    meaning: 'A built-in function got a payload of the wrong shape; the message names the field.',
    httpStatus: 400,
    retryable: false,
  },
  INVALID_ARGUMENTS: {
    meaning: 'Arguments exclude each other or are out of range.',
    httpStatus: 400,
    retryable: false,
  },
  INVALID_NAMESPACE: { meaning: 'A namespace was given but is blank.', httpStatus: 400, retryable: false },
  UNAUTHORIZED: { meaning: 'A credential is missing or wrong.', httpStatus: 401, retryable: false },
  FORBIDDEN: { meaning: 'This connection may not reach that id.', httpStatus: 403, retryable: false },
  NOT_FOUND: { meaning: 'The thing asked about does not exist.', httpStatus: 404, retryable: false },
  CONFLICT: {
    meaning: 'The thing changed since it was read, or something of that name is there already; the message says what.',
    httpStatus: 409,
    retryable: false,
  },
  MODULE_MISSING: {
    meaning: 'The engine runs without the module that this needs; the details say what to add.',
    httpStatus: 404,
    retryable: false,
  },
  WORKER_FAILED: {
    meaning: 'The worker could not be installed or started; the message carries the end of its output.',
    httpStatus: 500,
    retryable: false,
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The path exists for other methods; the header Allow names them.',
    httpStatus: 405,
    retryable: false,
  },
  CONDITION_NOT_MET: { meaning: 'The condition of the HTTP trigger said no.', httpStatus: 422, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { meaning: 'The content type is not taken here.', httpStatus: 415, retryable: false },
  BAD_HANDLER_RESPONSE: {
    meaning: 'The handler of an HTTP trigger returned something that is no response.',
    httpStatus: 502,
    retryable: false,
  },
  PAYLOAD_TOO_LARGE: { meaning: 'The payload is over its limit.', httpStatus: 413, retryable: false },
  RESULT_TOO_LARGE: { meaning: 'The result is over its limit; ask for less.', httpStatus: 413, retryable: false },
  RATE_LIMITED: { meaning: 'Too many messages; slow down.', httpStatus: 429, retryable: true },
  invocation_failed: {
    meaning: 'The handler threw, or its result breaks its schema or is no JSON.',
    httpStatus: 500,
    retryable: false,
  },
  invocation_stopped: {
    meaning: "The executing worker's connection ended; whether the call took effect is unknown.",
    httpStatus: 502,
    retryable: false,
  },
  function_not_found: { meaning: 'No connected worker offers that function.', httpStatus: 503, retryable: true },
  ENGINE_UNREACHABLE: {
    meaning:
      'The function runs on another engine of the cluster, or an engine that may have the worker, cannot be reached.',
    httpStatus: 503,
    retryable: true,
  },
  OVERLOADED: { meaning: 'A limit on running calls or buffered bytes is reached.', httpStatus: 503, retryable: true },
  SHUTTING_DOWN: { meaning: 'The engine is draining.', httpStatus: 503, retryable: true },
  TIMEOUT: { meaning: 'The deadline passed; the handler may still be running.', httpStatus: 504, retryable: false },
  DEPTH_EXCEEDED: { meaning: 'A chain of calls is 64 deep, most likely a loop.', httpStatus: 500, retryable: false },
  NOT_SUPPORTED: {
    meaning: 'The adapter that the module is configured with cannot do this.',
    httpStatus: 501,
    retryable: false,
  },
  enqueue_error: { meaning: 'The job was refused; `reason` says why.', httpStatus: 400, retryable: false },
  queue_not_set: { meaning: 'A function of queues was called without a queue.', httpStatus: 400, retryable: false },
  message_id_not_set: {
    meaning: 'A function of dead letters was called without a message_id.',
    httpStatus: 400,
    retryable: false,
  },
  topic_not_set: { meaning: 'An event was emitted without a topic.', httpStatus: 400, retryable: false },
  STORAGE_FULL: {
    meaning: 'The disk of the store is nearly full; what only frees space still works.',
    httpStatus: 507,
    retryable: true,
  },
  STORAGE_UNAVAILABLE: {
    meaning: 'The store failed, or its Redis or RabbitMQ is unreachable; whether the change was made is unknown.',
    httpStatus: 503,
    retryable: false,
  },
  STORAGE_CORRUPT: {
    meaning: 'A stored record fails its checksum: it is not handed out, and not changed.',
    httpStatus: 500,
    retryable: false,
  },
  url_validation_failed: {
    meaning: 'The URL of the function may not be reached from here; the message says why.',
    httpStatus: 502,
    retryable: false,
  },
  http_request_failed: {
    meaning: 'The server of the function could not be reached; whether it took effect is unknown.',
    httpStatus: 502,
    retryable: false,
  },
  http_error: { meaning: 'The server of the function answered with an error.', httpStatus: 502, retryable: false },
  invalid_response: {
    meaning: 'The server of the function answered with something that is not JSON.',
    httpStatus: 502,
    retryable: false,
  },
  trigger_registration_failed: {
    meaning: 'The trigger was refused; the message says why.',
    httpStatus: 400,
    retryable: false,
  },
  memory_exporter_not_enabled: {
    meaning: 'Spans are not kept in the engine, or calls are not counted: svc-observability is set so.',
    httpStatus: 503,
    retryable: false,
  },
  FUNCTION_NAMESPACE_CONFLICT: {
    meaning: 'The function id may not be registered by this connection.',
    httpStatus: 403,
    retryable: false,
  },
} as const satisfies Record<string, ErrorCodeDetails>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The documentation of a code, for this version. */
export function docUrl(code: string): string {
  return `docs/errors.md#${code}`;
}
