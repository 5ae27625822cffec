// `engine::stores::backup`: what `svc backup` asks a running engine for.

import { isAbsolute } from 'node:path';
import { readPayload } from '../../core/read-payload.ts';
import { Refusal } from '../../core/refusal.ts';
import { validateBackup } from '../../generated/engine-payloads.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import { BackupRefused } from '../../store/backup.ts';
import type { ModuleContext } from '../module.ts';

export function storesBackup({ stores }: ModuleContext): BuiltinDefinition {
  const id = 'engine::stores::backup';
  return {
    id,
    description: 'Copies every store that lies in a directory into a new folder of this machine',
    async handle(payload, { rights }) {
      // It writes where it is told: only for those who may do everything anyway.
      if (rights !== undefined) throw new Refusal('FORBIDDEN', `${id} is for trusted connections only`);
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
