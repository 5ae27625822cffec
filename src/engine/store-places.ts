// The folders in which a configuration keeps its data, for commands that work on stores while no engine runs.

import { resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';

/** The directories of its stores, each once. */
export function storeFolders(config: LoadedConfig, startedIn: string): string[] {
  const folders = config.modules.flatMap(({ adapter }) => {
    const folder = folderIn(adapter?.config);
    return folder === undefined ? [] : [resolve(startedIn, folder)];
  });
  return [...new Set(folders)];
}

/** In any module, a config with these two fields of `modules/kv-adapter.ts` is a store on this machine. */
function folderIn(config: unknown): string | undefined {
  if (typeof config !== 'object' || config === null) return undefined;
  const { store_method: method, file_path: folder } = config as { store_method?: unknown; file_path?: unknown };
  return method === 'file_based' && typeof folder === 'string' ? folder : undefined;
}
