// Compiled checks of the payloads of `worker::…` functions.

import typia from 'typia';
import type { AddWorker, NameWorker, ReadLogs, StopWorker } from '../modules/project-workers/payloads.ts';

export const validateAddWorker = typia.createValidateEquals<AddWorker>();
export const validateNameWorker = typia.createValidateEquals<NameWorker>();
export const validateStopWorker = typia.createValidateEquals<StopWorker>();
export const validateReadLogs = typia.createValidateEquals<ReadLogs>();
