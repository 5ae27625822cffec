// Compiled checks of every answer of the console API and of every item of its live socket. Clients rely on these
// shapes, and the contract tests prove them.

import typia from 'typia';
import type { ConsoleInfo, HttpResponse } from '../console/api/console-server.ts';
import type { ErrorEnvelope } from '../console/api/envelope.ts';
import type {
  CountersItem,
  HealthItem,
  JobChange,
  LiveFrame,
  RegistryItem,
  StateChange,
  StreamTap,
} from '../console/api/live.ts';
import type { QueueRow, Task } from '../console/api/queues.ts';
import type { AnswerOf, RouteName } from '../console/api/routes.ts';
import type { LogRow, TraceRow } from '../console/api/telemetry.ts';
import type { SpanRecord } from '../core/telemetry/records/records.ts';

export const isErrorEnvelope = typia.createIs<ErrorEnvelope>();
export const isConsoleInfo = typia.createIs<ConsoleInfo>();
export const isHttpResponse = typia.createIs<HttpResponse>();

/** Their answers are the user's own value, or a document of another format. */
type BareAnswer = 'POST /invoke' | 'GET /traces/{id}/export';

export const answerChecks = {
  'GET /status': typia.createValidate<AnswerOf<'GET /status'>>(),
  'GET /config': typia.createValidate<AnswerOf<'GET /config'>>(),
  'GET /config/schema': typia.createValidate<AnswerOf<'GET /config/schema'>>(),
  'GET /functions': typia.createValidate<AnswerOf<'GET /functions'>>(),
  'GET /functions/{id}': typia.createValidate<AnswerOf<'GET /functions/{id}'>>(),
  'GET /triggers': typia.createValidate<AnswerOf<'GET /triggers'>>(),
  'GET /triggers/{id}': typia.createValidate<AnswerOf<'GET /triggers/{id}'>>(),
  'GET /trigger-types': typia.createValidate<AnswerOf<'GET /trigger-types'>>(),
  'POST /triggers/{id}/fire': typia.createValidate<AnswerOf<'POST /triggers/{id}/fire'>>(),
  'POST /events/emit': typia.createValidate<AnswerOf<'POST /events/emit'>>(),
  'GET /workers': typia.createValidate<AnswerOf<'GET /workers'>>(),
  'GET /workers/{id}': typia.createValidate<AnswerOf<'GET /workers/{id}'>>(),
  'GET /queues': typia.createValidate<AnswerOf<'GET /queues'>>(),
  'GET /queues/{queue}': typia.createValidate<AnswerOf<'GET /queues/{queue}'>>(),
  'GET /queues/{queue}/jobs': typia.createValidate<AnswerOf<'GET /queues/{queue}/jobs'>>(),
  'GET /queues/{queue}/jobs/{id}': typia.createValidate<AnswerOf<'GET /queues/{queue}/jobs/{id}'>>(),
  'GET /queues/{queue}/groups': typia.createValidate<AnswerOf<'GET /queues/{queue}/groups'>>(),
  'POST /queues/{queue}/publish': typia.createValidate<AnswerOf<'POST /queues/{queue}/publish'>>(),
  'POST /queues/{queue}/pause': typia.createValidate<AnswerOf<'POST /queues/{queue}/pause'>>(),
  'POST /queues/{queue}/resume': typia.createValidate<AnswerOf<'POST /queues/{queue}/resume'>>(),
  'POST /queues/{queue}/dlq/redrive': typia.createValidate<AnswerOf<'POST /queues/{queue}/dlq/redrive'>>(),
  'POST /queues/{queue}/dlq/purge': typia.createValidate<AnswerOf<'POST /queues/{queue}/dlq/purge'>>(),
  'GET /queues/{queue}/dlq/groups': typia.createValidate<AnswerOf<'GET /queues/{queue}/dlq/groups'>>(),
  'GET /tasks/{id}': typia.createValidate<AnswerOf<'GET /tasks/{id}'>>(),
  'DELETE /tasks/{id}': typia.createValidate<AnswerOf<'DELETE /tasks/{id}'>>(),
  'GET /states/scopes': typia.createValidate<AnswerOf<'GET /states/scopes'>>(),
  'GET /states/{scope}/items': typia.createValidate<AnswerOf<'GET /states/{scope}/items'>>(),
  'GET /states/{scope}/items/{key}': typia.createValidate<AnswerOf<'GET /states/{scope}/items/{key}'>>(),
  'PUT /states/{scope}/items/{key}': typia.createValidate<AnswerOf<'PUT /states/{scope}/items/{key}'>>(),
  'DELETE /states/{scope}/items/{key}': typia.createValidate<AnswerOf<'DELETE /states/{scope}/items/{key}'>>(),
  'POST /states/{scope}/items/{key}/update':
    typia.createValidate<AnswerOf<'POST /states/{scope}/items/{key}/update'>>(),
  'GET /streams': typia.createValidate<AnswerOf<'GET /streams'>>(),
  'GET /streams/{stream}/groups': typia.createValidate<AnswerOf<'GET /streams/{stream}/groups'>>(),
  'GET /streams/{stream}/{group}/items': typia.createValidate<AnswerOf<'GET /streams/{stream}/{group}/items'>>(),
  'GET /streams/{stream}/{group}/items/{id}':
    typia.createValidate<AnswerOf<'GET /streams/{stream}/{group}/items/{id}'>>(),
  'GET /streams/{stream}/{group}/subscribers':
    typia.createValidate<AnswerOf<'GET /streams/{stream}/{group}/subscribers'>>(),
  'PUT /streams/{stream}/{group}/items/{id}':
    typia.createValidate<AnswerOf<'PUT /streams/{stream}/{group}/items/{id}'>>(),
  'DELETE /streams/{stream}/{group}/items/{id}':
    typia.createValidate<AnswerOf<'DELETE /streams/{stream}/{group}/items/{id}'>>(),
  'POST /streams/send': typia.createValidate<AnswerOf<'POST /streams/send'>>(),
  'POST /traces/search': typia.createValidate<AnswerOf<'POST /traces/search'>>(),
  'GET /traces/facets': typia.createValidate<AnswerOf<'GET /traces/facets'>>(),
  'GET /functions/{id}/runs': typia.createValidate<AnswerOf<'GET /functions/{id}/runs'>>(),
  'GET /calls': typia.createValidate<AnswerOf<'GET /calls'>>(),
  'GET /job-counts': typia.createValidate<AnswerOf<'GET /job-counts'>>(),
  'GET /traces/{id}': typia.createValidate<AnswerOf<'GET /traces/{id}'>>(),
  'GET /traces/{id}/spans/{span}/payloads': typia.createValidate<AnswerOf<'GET /traces/{id}/spans/{span}/payloads'>>(),
  'GET /traces/{id}/spans/{span}': typia.createValidate<AnswerOf<'GET /traces/{id}/spans/{span}'>>(),
  'DELETE /traces': typia.createValidate<AnswerOf<'DELETE /traces'>>(),
  'POST /logs/search': typia.createValidate<AnswerOf<'POST /logs/search'>>(),
  'POST /logs/histogram': typia.createValidate<AnswerOf<'POST /logs/histogram'>>(),
  'DELETE /logs': typia.createValidate<AnswerOf<'DELETE /logs'>>(),
  'GET /metrics': typia.createValidate<AnswerOf<'GET /metrics'>>(),
  'GET /rollups': typia.createValidate<AnswerOf<'GET /rollups'>>(),
  'GET /alerts': typia.createValidate<AnswerOf<'GET /alerts'>>(),
  'POST /alerts/evaluate': typia.createValidate<AnswerOf<'POST /alerts/evaluate'>>(),
  'GET /sampling': typia.createValidate<AnswerOf<'GET /sampling'>>(),
  'GET /flow/graph': typia.createValidate<AnswerOf<'GET /flow/graph'>>(),
  'GET /flow/layout/{id}': typia.createValidate<AnswerOf<'GET /flow/layout/{id}'>>(),
  'PUT /flow/layout/{id}': typia.createValidate<AnswerOf<'PUT /flow/layout/{id}'>>(),
} satisfies Record<Exclude<RouteName, BareAnswer>, unknown>;

export const isLiveFrame = typia.createIs<LiveFrame>();

/** By the word before the colon of a topic. */
export const itemChecks = {
  counters: typia.createValidate<CountersItem>(),
  health: typia.createValidate<HealthItem>(),
  registry: typia.createValidate<RegistryItem>(),
  queues: typia.createValidate<QueueRow>(),
  queue: typia.createValidate<JobChange>(),
  logs: typia.createValidate<LogRow>(),
  traces: typia.createValidate<TraceRow>(),
  trace: typia.createValidate<SpanRecord>(),
  state: typia.createValidate<StateChange>(),
  streams: typia.createValidate<StreamTap>(),
  stream: typia.createValidate<StreamTap>(),
  task: typia.createValidate<Task>(),
};
