// Compiled checks of the answers of built-in functions that the console reads. They reach it as JSON text, so their
// types have to be checked. The types are those that the modules which make the answers use.

import typia from 'typia';
import type { BuiltinAnswers } from '../console/api/builtin-answers.ts';
import type { TelemetryAnswers } from '../telemetry/functions/definition.ts';

export const answerChecks = {
  'engine::traces::list': typia.createIs<TelemetryAnswers['engine::traces::list']>(),
  'engine::traces::tree': typia.createIs<TelemetryAnswers['engine::traces::tree']>(),
  'engine::traces::clear': typia.createIs<TelemetryAnswers['engine::traces::clear']>(),
  'engine::traces::group_by': typia.createIs<TelemetryAnswers['engine::traces::group_by']>(),
  'engine::traces::edges': typia.createIs<TelemetryAnswers['engine::traces::edges']>(),
  'engine::traces::payloads': typia.createIs<TelemetryAnswers['engine::traces::payloads']>(),
  'engine::traces::runs': typia.createIs<TelemetryAnswers['engine::traces::runs']>(),
  'engine::traces::facets': typia.createIs<TelemetryAnswers['engine::traces::facets']>(),
  'engine::logs::clear': typia.createIs<TelemetryAnswers['engine::logs::clear']>(),
  'engine::logs::search': typia.createIs<TelemetryAnswers['engine::logs::search']>(),
  'engine::logs::histogram': typia.createIs<TelemetryAnswers['engine::logs::histogram']>(),
  'engine::logs::context': typia.createIs<TelemetryAnswers['engine::logs::context']>(),
  'engine::metrics::calls': typia.createIs<TelemetryAnswers['engine::metrics::calls']>(),
  'engine::metrics::jobs': typia.createIs<TelemetryAnswers['engine::metrics::jobs']>(),
  'engine::metrics::list': typia.createIs<TelemetryAnswers['engine::metrics::list']>(),
  'engine::rollups::list': typia.createIs<TelemetryAnswers['engine::rollups::list']>(),
  'engine::health::check': typia.createIs<BuiltinAnswers['engine::health::check']>(),
  'engine::triggers::fire': typia.createIs<BuiltinAnswers['engine::triggers::fire']>(),
  'engine::events::emit': typia.createIs<BuiltinAnswers['engine::events::emit']>(),
  'engine::queue::list': typia.createIs<BuiltinAnswers['engine::queue::list']>(),
  'engine::queue::topic_stats': typia.createIs<BuiltinAnswers['engine::queue::topic_stats']>(),
  'engine::queue::jobs': typia.createIs<BuiltinAnswers['engine::queue::jobs']>(),
  'engine::queue::job': typia.createIs<BuiltinAnswers['engine::queue::job']>(),
  'engine::queue::groups': typia.createIs<BuiltinAnswers['engine::queue::groups']>(),
  'engine::queue::dlq_messages': typia.createIs<BuiltinAnswers['engine::queue::dlq_messages']>(),
  'engine::queue::dlq_groups': typia.createIs<BuiltinAnswers['engine::queue::dlq_groups']>(),
  'svc::queue::redrive_message': typia.createIs<BuiltinAnswers['svc::queue::redrive_message']>(),
  'svc::queue::discard_message': typia.createIs<BuiltinAnswers['svc::queue::discard_message']>(),
  'state::list': typia.createIs<BuiltinAnswers['state::list']>(),
  'state::list_groups': typia.createIs<BuiltinAnswers['state::list_groups']>(),
  'state::update': typia.createIs<BuiltinAnswers['state::update']>(),
  'stream::list_all': typia.createIs<BuiltinAnswers['stream::list_all']>(),
  'stream::list_groups': typia.createIs<BuiltinAnswers['stream::list_groups']>(),
  'engine::alerts::list': typia.createIs<BuiltinAnswers['engine::alerts::list']>(),
  'engine::alerts::evaluate': typia.createIs<BuiltinAnswers['engine::alerts::evaluate']>(),
  'engine::sampling::rules': typia.createIs<BuiltinAnswers['engine::sampling::rules']>(),
};

export const isReceipt = typia.createIs<{ messageReceiptId: string }>();
