// The `kv` adapter of every module that keeps data in a local store.

import { fields, flag, integer, oneOf, optional, text, type ValueOf } from '../core/config-fields/fields.ts';
import { STORE_FOLDER_DEFAULT } from '../store/thread/contract.ts';
import type { StorePlace } from '../store/thread/tasks.ts';

export const KV_CONFIG = fields({
  store_method: oneOf(['file_based', 'in_memory'], {
    default: 'file_based',
    help: 'file_based: on disk before it is acknowledged; in_memory: lost when the engine ends',
  }),
  file_path: text({
    default: STORE_FOLDER_DEFAULT,
    help: 'Directory of the store, shared by modules that name the same one; relative to where the engine is started',
  }),
  save_interval_ms: optional(
    integer({
      min: 100,
      max: 3_600_000,
      help: 'Accepted and not used: every acknowledged write is on disk already',
    }),
  ),
  reserve_bytes: optional(
    integer({
      min: 0,
      help: 'Free space below which writes that grow are refused; max(256 MiB, 2 % of the disk) if omitted',
    }),
  ),
  any_file_system: flag({
    default: false,
    help: 'Accept a file system that is not of this machine (network, FUSE)',
  }),
});

export type KvConfig = ValueOf<typeof KV_CONFIG>;

export function placeOf(config: KvConfig): StorePlace {
  if (config.store_method === 'in_memory') return { kind: 'memory' };
  const { file_path: folder, reserve_bytes: reserveBytes, any_file_system: anyFileSystem } = config;
  return { kind: 'directory', folder, reserveBytes, anyFileSystem };
}
