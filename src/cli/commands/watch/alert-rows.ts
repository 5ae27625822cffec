// Alert rules as the engine lists them, for `svc alerts …`.

import { type JsonRecord, numberIn, textIn } from '../../text/records.ts';

/** `iii.invocations.error > 5 over 60s` */
export function conditionText(alert: JsonRecord): string {
  const window = numberIn(alert, 'window_seconds');
  const condition = `${textIn(alert, 'metric')} ${textIn(alert, 'operator')} ${textIn(alert, 'threshold')}`.trim();
  return window === undefined ? condition : `${condition} over ${window}s`;
}

export function alertState(alert: JsonRecord): 'firing' | 'quiet' | 'disabled' {
  if (alert.enabled === false) return 'disabled';
  return alert.firing === true ? 'firing' : 'quiet';
}
