// What a command on stores could not do, as a failure of the command.

import { BackupRefused } from '../store/backup.ts';
import { StoreInUse } from '../store/directory-lock.ts';
import { DamagedFile } from '../store/lmdb-file.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure } from './failures.ts';

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
      hint: 'Take another backup: what is damaged in a copy cannot be made up for.',
    });
  }
  return error;
}
