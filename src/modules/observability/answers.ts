// What the functions of observability answer that run on the router's thread.

import type { MeasuredAnswer } from '../../telemetry/tasks.ts';

export interface ObservabilityAnswers {
  'engine::alerts::measure': MeasuredAnswer;
  'engine::baggage::get': { value: string | null };
  'engine::baggage::get_all': { baggage: Record<string, string> };
  'engine::baggage::set': { success: true };
  'engine::log::debug': null;
  'engine::log::error': null;
  'engine::log::info': null;
  'engine::log::trace': null;
  'engine::log::warn': null;
}
