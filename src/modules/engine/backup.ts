// `engine::stores::backup`: called by `svc backup` on a running engine.

import { isAbsolute } from 'node:path';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { validateBackup } from '../../generated/module-payloads.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import { BackupRefused } from '../../store/place/backup.ts';
import type { ModuleContext } from '../module.ts';

export function storesBackup({ stores }: ModuleContext): BuiltinDefinition {
  const id = 'engine::stores::backup';
  return {
    id,
    description: 'Copies every store that lies in a directory into a new folder of this machine',
    async handle(payload, call) {
      // It writes to any path: only for callers that may do everything.
      assertTrusted(id, call);
      const { path } = readPayload(id, validateBackup, payload);
      if (!isAbsolute(path)) throw new Refusal('INVALID_ARGUMENTS', `Field 'path' must be absolute, found '${path}'`);
      try {
        return await stores.backUp(path);
      } catch (error) {
        throw error instanceof BackupRefused ? new Refusal('INVALID_ARGUMENTS', error.message) : error;
      }
    },
  };
}
