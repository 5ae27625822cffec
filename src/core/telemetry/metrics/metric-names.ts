// The names of the engine's metrics and of those that SDKs measure of their process. They begin with `svc.`, in drop-in
// mode with `iii.`; a query or a rule may use either (PD-45). Names that users chose are never changed.

/** What the names of emitted metrics and attributes begin with. */
export type EmittedPrefix = 'svc' | 'iii';

const FAMILIES = ['invocation.', 'invocations.', 'worker.', 'workers.'];
const PREFIX_LENGTH = 'svc.'.length;

/** The name with that prefix, if it is one of these; any other name as it is. */
export function metricName(name: string, prefix: EmittedPrefix): string {
  if (name.startsWith(prefix) || !(name.startsWith('svc.') || name.startsWith('iii.'))) return name;
  return FAMILIES.some((family) => name.startsWith(family, PREFIX_LENGTH))
    ? `${prefix}.${name.slice(PREFIX_LENGTH)}`
    : name;
}

/** Whether a metric is the one that is wanted, under either prefix. */
export function isMetric(wanted: string): (name: string) => boolean {
  const [own, other] = [metricName(wanted, 'svc'), metricName(wanted, 'iii')];
  return (name) => name === own || name === other;
}
