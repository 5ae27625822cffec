// Compiled checks of the payloads of `engine::…` functions.

import typia from 'typia';
import type {
  BackupPayload,
  ChannelsCreatePayload,
  FireTriggerPayload,
  FunctionsInfoPayload,
  FunctionsListPayload,
  IdPayload,
  RegisterTriggerPayload,
  RegisterWorkerPayload,
  ReservationPayload,
  ReservationsListPayload,
  TriggersListPayload,
  TriggerTypesListPayload,
  UnregisterTriggerPayload,
  WorkersInfoPayload,
  WorkersListPayload,
  WorkersRevokePayload,
} from '../modules/engine/payloads.ts';

export const validateFunctionsList = typia.createValidate<FunctionsListPayload>();
export const validateFunctionsInfo = typia.createValidate<FunctionsInfoPayload>();
export const validateWorkersList = typia.createValidate<WorkersListPayload>();
export const validateWorkersRevoke = typia.createValidate<WorkersRevokePayload>();
export const validateReservation = typia.createValidate<ReservationPayload>();
export const validateReservationsList = typia.createValidate<ReservationsListPayload>();
export const validateWorkersInfo = typia.createValidate<WorkersInfoPayload>();
export const validateTriggerTypesList = typia.createValidate<TriggerTypesListPayload>();
export const validateId = typia.createValidate<IdPayload>();
export const validateTriggersList = typia.createValidate<TriggersListPayload>();
export const validateRegisterTrigger = typia.createValidate<RegisterTriggerPayload>();
export const validateUnregisterTrigger = typia.createValidate<UnregisterTriggerPayload>();
export const validateChannelsCreate = typia.createValidate<ChannelsCreatePayload>();
export const validateBackup = typia.createValidate<BackupPayload>();
export const validateRegisterWorker = typia.createValidate<RegisterWorkerPayload>();
export const validateFireTrigger = typia.createValidate<FireTriggerPayload>();
