// How many router threads `threads: auto` is. Pure.

export interface Machine {
  readonly cores: number;
  /** What the process may use. */
  readonly memoryBytes: number;
  /** Several threads can listen on one port. */
  readonly sharesPorts: boolean;
}

export interface ChosenThreads {
  readonly threads: number;
  /** Why, as the start lines show it; `undefined`: the number was given. */
  readonly reason: string | undefined;
}

const CORES_OF_ONE_ROUTER = 2;
/** A heap of its own, buffers of its connections, and its copy of the registrations. */
const MEMORY_OF_ROUTER_BYTES = 512 * 1024 * 1024;
/** Every router has a line to every other one, and a copy of all registrations: more were never measured. */
const AUTO_MAX = 8;
/** Every router has a session with each one of all other engines. */
const AUTO_MAX_IN_CLUSTER = 4;

/** Half of the cores: stores, telemetry and the workers of the same machine need the others. */
export function chooseThreads(machine: Machine, isInCluster: boolean): ChosenThreads {
  const { cores, memoryBytes, sharesPorts } = machine;
  if (!sharesPorts) return { threads: 1, reason: 'threads cannot share a port here' };
  if (cores <= CORES_OF_ONE_ROUTER) return { threads: 1, reason: cores === 1 ? '1 core' : `${cores} cores` };
  const byMemory = Math.max(1, Math.floor(memoryBytes / MEMORY_OF_ROUTER_BYTES));
  const byCores = Math.floor(cores / CORES_OF_ONE_ROUTER);
  const most = Math.min(byCores, isInCluster ? AUTO_MAX_IN_CLUSTER : AUTO_MAX);
  if (byMemory < most) {
    return { threads: byMemory, reason: `${Math.floor(memoryBytes / MIB)} MiB of memory` };
  }
  const cluster = isInCluster && most < Math.min(byCores, AUTO_MAX) ? ' in a cluster' : '';
  return { threads: most, reason: `${cores} cores${cluster}` };
}

const MIB = 1024 * 1024;
