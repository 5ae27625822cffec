// The address in a saved view. Every client that may write state may write one, so it is not trusted.

/** A path below this console with its search. Undefined where the value is anything else. */
export function viewAddress(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('address' in value)) return undefined;
  const { address } = value;
  // Two slashes, or a slash and a backslash, begin the name of another host.
  return typeof address === 'string' && /^\/(?![/\\])/.test(address) ? address : undefined;
}
