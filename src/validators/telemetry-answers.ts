// Compiled checks of what other engines of a cluster answer to questions about traces, logs and counts.

import typia from 'typia';
import type { TelemetryAnswers } from '../telemetry/functions/definition.ts';

export const telemetryAnswers = {
  'engine::traces::list': typia.createIs<TelemetryAnswers['engine::traces::list']>(),
  'engine::traces::tree': typia.createIs<TelemetryAnswers['engine::traces::tree']>(),
  'engine::traces::span': typia.createIs<TelemetryAnswers['engine::traces::span']>(),
  'engine::traces::payloads': typia.createIs<TelemetryAnswers['engine::traces::payloads']>(),
  'engine::traces::group_by': typia.createIs<TelemetryAnswers['engine::traces::group_by']>(),
  'engine::traces::runs': typia.createIs<TelemetryAnswers['engine::traces::runs']>(),
  'engine::logs::list': typia.createIs<TelemetryAnswers['engine::logs::list']>(),
  'engine::logs::search': typia.createIs<TelemetryAnswers['engine::logs::search']>(),
  'engine::logs::histogram': typia.createIs<TelemetryAnswers['engine::logs::histogram']>(),
  'engine::traces::facets': typia.createIs<TelemetryAnswers['engine::traces::facets']>(),
  'engine::metrics::list': typia.createIs<TelemetryAnswers['engine::metrics::list']>(),
  'engine::metrics::calls': typia.createIs<TelemetryAnswers['engine::metrics::calls']>(),
  'engine::metrics::jobs': typia.createIs<TelemetryAnswers['engine::metrics::jobs']>(),
  'engine::rollups::list': typia.createIs<TelemetryAnswers['engine::rollups::list']>(),
};
