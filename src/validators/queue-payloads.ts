// Compiled checks of the payloads of the queue module's functions.

import typia from 'typia';
import type {
  GroupsPayload,
  JobPayload,
  JobsPayload,
  MessagePayload,
  MovesPayload,
  NothingPayload,
  ProgressPayload,
  QueuePayload,
  TopicPagePayload,
} from '../modules/queue/function-payloads.ts';

export const validateNothing = typia.createValidate<NothingPayload>();
export const validateQueue = typia.createValidate<QueuePayload>();
export const validateMoves = typia.createValidate<MovesPayload>();
export const validateMessage = typia.createValidate<MessagePayload>();
export const validateTopicPage = typia.createValidate<TopicPagePayload>();
export const validateJob = typia.createValidate<JobPayload>();
export const validateJobs = typia.createValidate<JobsPayload>();
export const validateGroups = typia.createValidate<GroupsPayload>();
export const validateProgress = typia.createValidate<ProgressPayload>();
