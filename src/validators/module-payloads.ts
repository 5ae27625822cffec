// Compiled checks of what callers and clients send to the modules: the payloads of their functions, and the messages of
// stream clients. `worker-frames.ts` says how they are compiled.

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
  TriggersJudgedPayload,
  TriggersListPayload,
  TriggerTypesListPayload,
  UnregisterTriggerPayload,
  WorkersInfoPayload,
  WorkersListPayload,
  WorkersReplacePayload,
  WorkersRevokePayload,
} from '../modules/engine/payloads.ts';
import type { EmitPayload, EventHeader, PublishPayload } from '../modules/events/bus.ts';
import type {
  AlertsMeasurePayload,
  BaggageGetPayload,
  BaggageSetPayload,
  LogPayload,
} from '../modules/observability/payloads.ts';
import type { AddWorker, NameWorker, ReadLogs, StopWorker } from '../modules/project-workers/payloads.ts';
import type {
  GroupsPayload,
  JobPayload,
  JobsPayload,
  MessagePayload,
  MovesPayload,
  NothingPayload,
  ProgressPayload,
  QueuePayload,
  RecoverPayload,
  TopicPagePayload,
} from '../modules/queue/function-payloads.ts';
import type { StreamClientMessage } from '../modules/stream/messages.ts';

export const validateFunctionsList = typia.createValidate<FunctionsListPayload>();
export const validateFunctionsInfo = typia.createValidate<FunctionsInfoPayload>();
export const validateWorkersList = typia.createValidate<WorkersListPayload>();
export const validateWorkersReplace = typia.createValidate<WorkersReplacePayload>();
export const validateWorkersRevoke = typia.createValidate<WorkersRevokePayload>();
export const validateReservation = typia.createValidate<ReservationPayload>();
export const validateReservationsList = typia.createValidate<ReservationsListPayload>();
export const validateWorkersInfo = typia.createValidate<WorkersInfoPayload>();
export const validateTriggerTypesList = typia.createValidate<TriggerTypesListPayload>();
export const validateTriggersJudged = typia.createValidate<TriggersJudgedPayload>();
export const validateId = typia.createValidate<IdPayload>();
export const validateTriggersList = typia.createValidate<TriggersListPayload>();
export const validateRegisterTrigger = typia.createValidate<RegisterTriggerPayload>();
export const validateUnregisterTrigger = typia.createValidate<UnregisterTriggerPayload>();
export const validateChannelsCreate = typia.createValidate<ChannelsCreatePayload>();
export const validateBackup = typia.createValidate<BackupPayload>();
export const validateRegisterWorker = typia.createValidate<RegisterWorkerPayload>();
export const validateFireTrigger = typia.createValidate<FireTriggerPayload>();

export const validatePublish = typia.createValidate<PublishPayload>();
export const validateEmit = typia.createValidate<EmitPayload>();
export const isEventHeader = typia.createIs<EventHeader>();

export const validateLog = typia.createValidate<LogPayload>();
export const validateBaggageGet = typia.createValidate<BaggageGetPayload>();
export const validateBaggageSet = typia.createValidate<BaggageSetPayload>();

export const validateNothing = typia.createValidate<NothingPayload>();
export const validateQueue = typia.createValidate<QueuePayload>();
export const validateMoves = typia.createValidate<MovesPayload>();
export const validateRecover = typia.createValidate<RecoverPayload>();
export const validateMessage = typia.createValidate<MessagePayload>();
export const validateTopicPage = typia.createValidate<TopicPagePayload>();
export const validateJob = typia.createValidate<JobPayload>();
export const validateJobs = typia.createValidate<JobsPayload>();
export const validateGroups = typia.createValidate<GroupsPayload>();
export const validateProgress = typia.createValidate<ProgressPayload>();

export const validateStreamClientMessage = typia.createValidate<StreamClientMessage>();

export const validateAddWorker = typia.createValidateEquals<AddWorker>();
export const validateNameWorker = typia.createValidateEquals<NameWorker>();
export const validateStopWorker = typia.createValidateEquals<StopWorker>();
export const validateReadLogs = typia.createValidateEquals<ReadLogs>();
export const validateAlertsMeasure = typia.createValidate<AlertsMeasurePayload>();
