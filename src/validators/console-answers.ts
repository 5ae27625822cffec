// Compiled checks of the answers of built-in functions to the console: it calls them by their id and must not trust
// them blindly.

import typia from 'typia';
import type { Alerts, AlertsEvaluated, Cleared, Metrics, Rollups, Sampling } from '../console-api/telemetry.ts';
import type {
  DeadGroupList,
  DeadLetters,
  EdgesAnswer,
  Emission,
  FacetsAnswer,
  FifoGroups,
  FiredTrigger,
  HealthAnswer,
  HistogramAnswer,
  JobList,
  LogList,
  LogPage,
  QueueJob,
  QueueList,
  SpanGroups,
  SpanTree,
  StateEntries,
  StreamList,
  TopicStats,
  TracePage,
  Updated,
  WorkerGauges,
} from '../modules/console/facts/answers.ts';

export const isSpanGroups = typia.createIs<SpanGroups>();
export const isStateEntries = typia.createIs<StateEntries>();
export const isGroups = typia.createIs<{ groups: string[] }>();
export const isStreamList = typia.createIs<StreamList>();
export const isQueueList = typia.createIs<QueueList>();
export const isDeadGroupList = typia.createIs<DeadGroupList>();
export const isTopicStats = typia.createIs<TopicStats>();
export const isJobList = typia.createIs<JobList>();
export const isDeadLetters = typia.createIs<DeadLetters>();
export const isTracePage = typia.createIs<TracePage>();
export const isSpanTree = typia.createIs<SpanTree>();
export const isLogPage = typia.createIs<LogPage>();
export const isFired = typia.createIs<FiredTrigger>();
export const isEmitted = typia.createIs<Emission>();
export const isUpdated = typia.createIs<Updated>();
export const isFifoGroups = typia.createIs<FifoGroups>();
export const isJob = typia.createIs<QueueJob>();
export const isReceipt = typia.createIs<{ messageReceiptId: string }>();
export const isRedriven = typia.createIs<{ redriven: number }>();
export const isEdges = typia.createIs<EdgesAnswer>();
export const isFacets = typia.createIs<FacetsAnswer>();
export const isHistogram = typia.createIs<HistogramAnswer>();
export const isCleared = typia.createIs<Cleared>();
export const isMetrics = typia.createIs<Metrics>();
export const isWorkerGauges = typia.createIs<WorkerGauges>();
export const isRollups = typia.createIs<Rollups>();
export const isAlerts = typia.createIs<Alerts>();
export const isAlertsEvaluated = typia.createIs<AlertsEvaluated>();
export const isSampling = typia.createIs<Sampling>();
export const isHealth = typia.createIs<HealthAnswer>();
export const isLogList = typia.createIs<LogList>();
