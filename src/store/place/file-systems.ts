// The file systems that a store may lie on (D7). lmdb relies on locks and on mapped memory that all readers see alike,
// which holds only where the disk belongs to this machine.

import { statfsSync } from 'node:fs';

/** By the magic numbers of statfs(2). */
const NOT_OF_THIS_MACHINE = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x73757245, 'Coda'],
]);

/** Why a store must not lie there; `undefined` if it may. */
export function fileSystemOffence(folder: string): string | undefined {
  return offenceOfType(statfsSync(folder).type);
}

export function offenceOfType(type: number): string | undefined {
  const name = NOT_OF_THIS_MACHINE.get(type >>> 0);
  if (name === undefined) return undefined;
  return (
    `lies on a file system of the kind ${name}, where a crash or a second engine can damage it. Choose a disk of ` +
    'this machine, or set any_file_system: true if it is one'
  );
}
