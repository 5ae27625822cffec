// The order of registrations that a process has, and that the cluster does not know yet: newer than all that it knows.

/** Above every revision of a bucket. */
const FIRST = 2 ** 52;

export function provisionalOrder(count: number): number {
  return FIRST + count;
}

export function isProvisional(order: number): boolean {
  return order >= FIRST;
}
