// A failed operation on stores, as a failure of the command.

import { DamagedFile } from '../../store/kv/lmdb-file.ts';
import { BackupRefused } from '../../store/place/backup.ts';
import { StoreInUse } from '../../store/place/directory-lock.ts';
import { EXIT } from '../kernel/exit-codes.ts';
import { CliFailure } from '../kernel/failures.ts';

export function storeFailure(error: unknown): unknown {
  if (error instanceof BackupRefused) {
    return new CliFailure({ code: 'REFUSED', message: error.message, exitCode: EXIT.conflict });
  }
  if (error instanceof StoreInUse) {
    return new CliFailure({ code: 'STORE_IN_USE', message: error.message, exitCode: EXIT.conflict });
  }
  if (error instanceof DamagedFile) {
    return new CliFailure({
      code: 'STORAGE_CORRUPT',
      message: `A store is damaged: ${error.message}. Nothing was changed.`,
      exitCode: EXIT.storage,
      hint: 'Use another backup: damaged data cannot be repaired.',
    });
  }
  return error;
}
