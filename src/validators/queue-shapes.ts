// Compiled checks of the messages between the queue module and its store, and of the payloads of its functions.

import typia from 'typia';
import type {
  BrokerJob,
  BrokerRegistry,
  DeadRecord,
  QueueHead,
  RunningRecord,
  StoredSubscription,
  StoreHead,
  WaitingRecord,
} from '../core/queue/records.ts';
import type {
  AdvanceInput,
  AdvanceSummary,
  ChangePlan,
  DeadListInput,
  DeadMovesInput,
  DeadRow,
  EnqueueAnswer,
  EnqueueHead,
  ForgetInput,
  GroupsInput,
  GroupsPage,
  JobHeader,
  JobInput,
  JobOptions,
  JobRow,
  JobsInput,
  JobsPage,
  KeptJobHead,
  KeptMovesInput,
  MigrateAnswer,
  MigrateInput,
  MovesAnswer,
  OpenAnswer,
  OpenInput,
  OutboxAsk,
  OutboxDrop,
  OutboxHead,
  OutboxPage,
  OutboxPlaces,
  PauseInput,
  PlanAnswer,
  QueueStats,
  WakeInput,
} from '../core/queue/shapes.ts';

export const isEnqueueHead = typia.createIs<EnqueueHead>();
export const isEnqueueAnswer = typia.createIs<EnqueueAnswer>();
export const isJobOptions = typia.createIs<JobOptions>();
export const isAdvanceInput = typia.createIs<AdvanceInput>();
export const isAdvanceSummary = typia.createIs<AdvanceSummary>();
export const isQueueStatsList = typia.createIs<QueueStats[]>();
export const isJobHeader = typia.createIs<JobHeader>();
export const isQueueHead = typia.createIs<QueueHead>();
export const isStoreHead = typia.createIs<StoreHead>();
export const isWaitingRecord = typia.createIs<WaitingRecord>();
export const isRunningRecord = typia.createIs<RunningRecord>();
export const isDeadRecord = typia.createIs<DeadRecord>();
export const isStoredSubscription = typia.createIs<StoredSubscription>();
export const areStoredSubscriptions = typia.createIs<StoredSubscription[]>();
export const isSubscriptionInput = typia.createIs<StoredSubscription>();
export const isOpenInput = typia.createIs<OpenInput>();
export const isOpenAnswer = typia.createIs<OpenAnswer>();
export const isForgetInput = typia.createIs<ForgetInput>();
export const isWakeInput = typia.createIs<WakeInput>();
export const isPauseInput = typia.createIs<PauseInput>();
export const isJobInput = typia.createIs<JobInput>();
export const isJobsInput = typia.createIs<JobsInput>();
export const isDeadListInput = typia.createIs<DeadListInput>();
export const isDeadMovesInput = typia.createIs<DeadMovesInput>();
export const isMovesAnswer = typia.createIs<MovesAnswer>();
export const isKeptMovesInput = typia.createIs<KeptMovesInput>();
export const isGroupsInput = typia.createIs<GroupsInput>();
export const isGroupsPage = typia.createIs<GroupsPage>();
export const isJobsPage = typia.createIs<JobsPage>();
export const isJobRowOrNull = typia.createIs<JobRow | null>();
export const isDeadRows = typia.createIs<DeadRow[]>();
export const isBrokerJob = typia.createIs<BrokerJob>();
export const isBrokerRegistry = typia.createIs<BrokerRegistry>();
export const isChangePlan = typia.createIs<ChangePlan>();
export const isPlanAnswer = typia.createIs<PlanAnswer>();
export const isOutboxAsk = typia.createIs<OutboxAsk>();
export const isOutboxHead = typia.createIs<OutboxHead>();
export const isKeptJobHead = typia.createIs<KeptJobHead>();
export const isOutboxPage = typia.createIs<OutboxPage>();
export const isOutboxPlaces = typia.createIs<OutboxPlaces>();
export const isOutboxDrop = typia.createIs<OutboxDrop>();
export const isMigrateInput = typia.createIs<MigrateInput>();
export const isMigrateAnswer = typia.createIs<MigrateAnswer>();
