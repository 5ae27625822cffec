// Alert rules see the sums of a cluster: the engine that evaluates them asks the others what they measured.

import { readPayload } from '../../core/calls/refusal.ts';
import { isMeasuredAnswer } from '../../generated/cluster-values.ts';
import { validateAlertsMeasure } from '../../generated/module-payloads.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { parseAnswer } from '../../router/remote/ask-engines.ts';
import type { Measured, MetricWindow } from '../../telemetry/tasks.ts';
import type { ObservabilityAnswers } from './answers.ts';
import type { AlertsMeasurePayload } from './payloads.ts';

const ALERTS_MEASURE = 'engine::alerts::measure';

/** An engine that does not answer in time is left out. */
export function measureElsewhere(router: Pick<RouterPort, 'others'>) {
  return async (windows: readonly MetricWindow[]): Promise<readonly Measured[]> => {
    const payload: AlertsMeasurePayload = {
      windows: windows.map(({ rule, metric, windowSeconds }) => ({ rule, metric, window_seconds: windowSeconds })),
    };
    const answers = await router.others.askEngines(ALERTS_MEASURE, Payload.ofText(rawJson(payload)));
    return (answers?.parts ?? []).flatMap(({ json }) => {
      const answer = parseAnswer(json);
      return isMeasuredAnswer(answer) ? answer.measured : [];
    });
  };
}

export function alertsMeasure(
  measure: (windows: readonly MetricWindow[]) => Promise<readonly Measured[]>,
): BuiltinDefinition {
  return {
    id: ALERTS_MEASURE,
    description: 'Measures for the alert rules of another engine of the cluster',
    async handle(payload, call): Promise<ObservabilityAnswers[typeof ALERTS_MEASURE]> {
      assertTrusted(ALERTS_MEASURE, call);
      const { windows } = readPayload(ALERTS_MEASURE, validateAlertsMeasure, payload);
      return {
        measured: await measure(
          windows.map(({ rule, metric, window_seconds: windowSeconds }) => ({ rule, metric, windowSeconds })),
        ),
      };
    },
  };
}
