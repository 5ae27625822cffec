// Compiled checks of the messages between the queue module and its store, and of the payloads of its functions.

import typia from 'typia';
import type { GroupsInput, GroupsPage } from '../core/queue/group-shapes.ts';
import type {
  BrokerBook,
  BrokerJob,
  DeadMark,
  QueueHead,
  RunningMark,
  StoreHead,
  SubscriptionMark,
  WaitingMark,
} from '../core/queue/records.ts';
import type {
  AdvanceFacts,
  AdvanceInput,
  ChangePlan,
  DeadListInput,
  DeadMovesInput,
  DeadRow,
  EnqueueAnswer,
  EnqueueHead,
  ForgetInput,
  JobFacts,
  JobInput,
  JobOptions,
  JobRow,
  JobsInput,
  JobsPage,
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
  PauseInput,
  PlanAnswer,
  QueueStats,
  WakeInput,
} from '../core/queue/shapes.ts';

export const isEnqueueHead = typia.createIs<EnqueueHead>();
export const isEnqueueAnswer = typia.createIs<EnqueueAnswer>();
export const isJobOptions = typia.createIs<JobOptions>();
export const isAdvanceInput = typia.createIs<AdvanceInput>();
export const isAdvanceFacts = typia.createIs<AdvanceFacts>();
export const isQueueStatsList = typia.createIs<QueueStats[]>();
export const isJobFacts = typia.createIs<JobFacts>();
export const isQueueHead = typia.createIs<QueueHead>();
export const isStoreHead = typia.createIs<StoreHead>();
export const isWaitingMark = typia.createIs<WaitingMark>();
export const isRunningMark = typia.createIs<RunningMark>();
export const isDeadMark = typia.createIs<DeadMark>();
export const isSubscriptionMark = typia.createIs<SubscriptionMark>();
export const isSubscriptionMarks = typia.createIs<SubscriptionMark[]>();
export const isSubscriptionInput = typia.createIs<SubscriptionMark>();
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
export const isBrokerBook = typia.createIs<BrokerBook>();
export const isChangePlan = typia.createIs<ChangePlan>();
export const isPlanAnswer = typia.createIs<PlanAnswer>();
export const isOutboxAsk = typia.createIs<OutboxAsk>();
export const isOutboxHead = typia.createIs<OutboxHead>();
export const isOutboxPage = typia.createIs<OutboxPage>();
export const isOutboxDrop = typia.createIs<OutboxDrop>();
export const isMigrateInput = typia.createIs<MigrateInput>();
export const isMigrateAnswer = typia.createIs<MigrateAnswer>();
