// A running engine with observability, and queries to it.

import type { RawWorker } from '../clients/raw-worker.ts';

export type Fields = Record<string, unknown>;

const PORT = `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
`;

/** Without an entry of the module: everything is on and in memory. */
export const OBSERVED = PORT;

/** With an entry; `top` is the text before the list. */
export function observedBy(config: string, top = ''): string {
  return `${top}${PORT}  - name: svc-observability\n    config: ${config}\n`;
}

export async function ask(worker: RawWorker, id: string, payload: unknown = {}): Promise<Fields> {
  const { result, error } = await worker.call(id, payload);
  if (error !== undefined) throw new Error(`${id} failed: ${JSON.stringify(error)}`);
  if (typeof result !== 'object' || result === null) throw new Error(`${id} answered ${JSON.stringify(result)}`);
  return { ...result };
}

/** Code of the error that the call ends with; undefined when it succeeds. */
export async function refusalOf(worker: RawWorker, id: string, payload: unknown): Promise<unknown> {
  const { error } = await worker.call(id, payload);
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** A counter of a worker as its SDK would send it, counted from its start. */
export function sendCounter(worker: RawWorker, name: string, value: number, timeMs: number): void {
  const point = { asInt: String(value), timeUnixNano: `${timeMs}000000`, attributes: [] };
  const metric = { name, unit: '1', sum: { dataPoints: [point], aggregationTemporality: 2, isMonotonic: true } };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const request = { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'test' }, metrics: [metric] }] }] };
  worker.sendBinary(Buffer.from(`MTRC${JSON.stringify(request)}`));
}
