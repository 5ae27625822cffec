/** Whether it is a function of the engine itself: those of supervised workers and of dead letters are too. */
export function isOwnFunction(functionId: string): boolean {
  return FAMILIES.some((family) => functionId.startsWith(family));
}

const FAMILIES = ['engine::', 'worker::', 'svc::queue::'];
