// Which package holds the binary of uWebSockets.js for this process, and what to do where none can be loaded. Pure.

/** Where the engine runs. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** Of Node. */
  readonly major: number;
  /** Undefined on a system with another C library, such as musl. */
  readonly glibc: string | undefined;
}

/** Why no binary is loaded. */
export class UwsUnavailable extends Error {
  /** What would change it, if anything. */
  readonly action: string | undefined;

  constructor(reason: string, action: string | undefined) {
    super(reason);
    this.name = 'UwsUnavailable';
    this.action = action;
  }
}

/**
 * Each package holds the binary for one version of Node. A user may install the official package under the name
 * `uWebSockets.js` instead: it holds several.
 */
const PACKAGES: ReadonlyMap<number, string> = new Map([
  [22, 'uWebSockets.js'],
  [24, 'uws-node-24'],
  [26, 'uws-node-26'],
]);
const OFFICIAL = 'uWebSockets.js';
const MAJORS = '22, 24 or 26';

/** The packages to try, in order. */
export function uwsPackages(major: number): string[] {
  return [...new Set([PACKAGES.get(major) ?? OFFICIAL, OFFICIAL])];
}

/** `error`: of the package that should have the binary for this Node. */
export function whyUnavailable({ platform, arch, major, glibc }: Machine, error: Error): UwsUnavailable {
  if (platform !== 'linux' || arch !== 'x64') {
    return new UwsUnavailable(`there is no binary for ${platform} on ${arch}`, undefined);
  }
  if (glibc === undefined) {
    const action = 'run the engine on a system with glibc, such as Debian or Ubuntu';
    return new UwsUnavailable('there is no binary for a system without glibc', action);
  }
  if (!PACKAGES.has(major)) {
    return new UwsUnavailable(`there is no binary for Node ${major}`, `run the engine on Node ${MAJORS}`);
  }
  const [problem = ''] = error.message.split('\n');
  const [, needed] = /GLIBC_([\d.]+)' not found/.exec(problem) ?? [];
  if (needed !== undefined) {
    const reason = `its binary for Node ${major} needs glibc ${needed}, and this system has ${glibc}`;
    return new UwsUnavailable(reason, 'run the engine on Node 22, or on Debian 13, Ubuntu 24.04 or newer');
  }
  if (Reflect.get(error, 'code') === 'MODULE_NOT_FOUND') {
    const action = `install the packages again with Node ${major}: npm leaves out other binaries`;
    return new UwsUnavailable(`its binary for Node ${major} is not installed`, action);
  }
  return new UwsUnavailable(problem, 'install the packages again');
}
