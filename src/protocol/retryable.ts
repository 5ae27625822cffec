// Which of the engine's error codes promise that nothing was executed. Beside the table of `errors.ts` and not in it,
// because the SDKs need no more than this; a test compares the two.

const RETRYABLE: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'function_not_found',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'STORAGE_FULL',
]);

/** Whether a caller may repeat the call as it is. Codes of handlers are never assumed to be. */
export function isRetryable(code: string): boolean {
  return RETRYABLE.has(code);
}
