// The error codes of the engine that guarantee that nothing was executed. They are not in the table of `errors.ts`,
// because the SDKs need only this list; a test compares the two.

const RETRYABLE: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'function_not_found',
  'ENGINE_UNREACHABLE',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'STORAGE_FULL',
]);

/** Whether a caller may repeat the call unchanged. False for any code of a handler. */
export function isRetryable(code: string): boolean {
  return RETRYABLE.has(code);
}
