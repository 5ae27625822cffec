// Compiled checks of what the queue module and its store tell each other, and of what its functions take.

import typia from 'typia';
import type {
  DeadMark,
  EnqueueAnswers,
  QueueHead,
  RunningMark,
  StoreHead,
  SubscriptionMark,
  WaitingMark,
} from '../core/queue/records.ts';
import type {
  AdvanceAnswer,
  AdvanceInput,
  DeadListInput,
  DeadMovesInput,
  EnqueueInput,
  JobFacts,
  JobInput,
  JobRow,
  KeptMovesInput,
  MovesAnswer,
  OpenAnswer,
  OpenInput,
  PageInput,
  PauseInput,
  QueueStats,
  WakeInput,
} from '../core/queue/shapes.ts';

export const isEnqueueInput = typia.createIs<EnqueueInput>();
export const isEnqueueAnswers = typia.createIs<EnqueueAnswers>();
export const isAdvanceInput = typia.createIs<AdvanceInput>();
export const isAdvanceAnswer = typia.createIs<AdvanceAnswer>();
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
export const isWakeInput = typia.createIs<WakeInput>();
export const isPauseInput = typia.createIs<PauseInput>();
export const isJobInput = typia.createIs<JobInput>();
export const isJobsInput = typia.createIs<PageInput>();
export const isDeadListInput = typia.createIs<DeadListInput>();
export const isDeadMovesInput = typia.createIs<DeadMovesInput>();
export const isMovesAnswer = typia.createIs<MovesAnswer>();
export const isKeptMovesInput = typia.createIs<KeptMovesInput>();
export const isJobRows = typia.createIs<JobRow[]>();
export const isJobRowOrNull = typia.createIs<JobRow | null>();
