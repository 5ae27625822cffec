// Every error code the engine itself produces: what it means, the HTTP status it becomes, and whether
// the same call may simply be made again. Codes raised by a handler pass through and are not listed.

export interface ErrorCodeFacts {
  readonly meaning: string;
  readonly httpStatus: number;
  readonly retryable: boolean;
}

export const ERROR_CODES = {
  BAD_REQUEST: { meaning: 'The input breaks a rule; the message names it.', httpStatus: 400, retryable: false },
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
  PAYLOAD_TOO_LARGE: { meaning: 'The payload is over its limit.', httpStatus: 413, retryable: false },
  RESULT_TOO_LARGE: { meaning: 'The result is over its limit; ask for less.', httpStatus: 413, retryable: false },
  RATE_LIMITED: { meaning: 'Too many messages; slow down.', httpStatus: 429, retryable: true },
  invocation_failed: { meaning: 'The handler threw.', httpStatus: 500, retryable: false },
  invocation_stopped: {
    meaning: "The executing worker's connection ended; whether the call took effect is unknown.",
    httpStatus: 502,
    retryable: false,
  },
  function_not_found: { meaning: 'No connected worker offers that function.', httpStatus: 503, retryable: true },
  OVERLOADED: { meaning: 'A limit on running calls or buffered bytes is reached.', httpStatus: 503, retryable: true },
  SHUTTING_DOWN: { meaning: 'The engine is draining.', httpStatus: 503, retryable: true },
  TIMEOUT: { meaning: 'The deadline passed; the handler may still be running.', httpStatus: 504, retryable: false },
  DEPTH_EXCEEDED: { meaning: 'A chain of calls is 64 deep, most likely a loop.', httpStatus: 500, retryable: false },
  enqueue_error: { meaning: 'The job was refused; `reason` says why.', httpStatus: 400, retryable: false },
  trigger_registration_failed: {
    meaning: 'The trigger was refused; the message says why.',
    httpStatus: 400,
    retryable: false,
  },
  FUNCTION_NAMESPACE_CONFLICT: {
    meaning: 'The function id may not be registered by this connection.',
    httpStatus: 403,
    retryable: false,
  },
} as const satisfies Record<string, ErrorCodeFacts>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Whether a caller may repeat the call as it is. Codes of handlers are never assumed to be. */
export function isRetryable(code: string): boolean {
  return Object.hasOwn(ERROR_CODES, code) && ERROR_CODES[code as ErrorCode].retryable;
}
