import { describe, expect, test } from 'vitest';
import { type Machine, uwsPackages, whyUnavailable } from '../../../src/transport/uws/uws-binary.ts';

const DEBIAN_12: Machine = { platform: 'linux', arch: 'x64', major: 24, glibc: '2.36' };
const NOT_FOUND = Object.assign(new Error("Cannot find module 'uws-node-24'\nRequire stack:\n- /x"), {
  code: 'MODULE_NOT_FOUND',
});
const OLD_GLIBC = new Error(
  "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws.node)",
);

describe('the packages of uWebSockets.js', () => {
  test.each([
    [22, ['uWebSockets.js']],
    [24, ['uws-node-24', 'uWebSockets.js']],
    [26, ['uws-node-26', 'uWebSockets.js']],
    // The official package, where a user has installed it, may hold a binary for any version.
    [25, ['uWebSockets.js']],
  ])('[PD-20] are tried in order on Node %d', (major, packages) => {
    expect(uwsPackages(major)).toEqual(packages);
  });
});

describe('where no binary can be loaded, the reason and the one action', () => {
  test.each<[name: string, machine: Partial<Machine>, error: Error, reason: string, action: string | undefined]>([
    ['macOS', { platform: 'darwin', arch: 'arm64' }, NOT_FOUND, 'there is no binary for darwin on arm64', undefined],
    ['arm64', { arch: 'arm64' }, NOT_FOUND, 'there is no binary for linux on arm64', undefined],
    ['musl', { glibc: undefined }, NOT_FOUND, 'there is no binary for a system without glibc', 'a system with glibc'],
    ['Node 25', { major: 25 }, NOT_FOUND, 'there is no binary for Node 25', 'run the engine on Node 22, 24 or 26'],
    ['an older glibc', {}, OLD_GLIBC, 'Node 24 needs glibc 2.38, and this system has 2.36', 'Node 22, or on Debian 13'],
    ['another Node at installation', {}, NOT_FOUND, 'Node 24 is not installed', 'packages again with Node 24'],
    ['a damaged file', {}, new Error('file too short\nmore'), 'file too short', 'install the packages again'],
  ])('[PD-20] on %s', (_name, machine, error, reason, action) => {
    const unavailable = whyUnavailable({ ...DEBIAN_12, ...machine }, error);
    expect(unavailable.message).toContain(reason);
    expect(unavailable.message).not.toContain('\n');
    if (action === undefined) expect(unavailable.action).toBeUndefined();
    else expect(unavailable.action).toContain(action);
  });
});
