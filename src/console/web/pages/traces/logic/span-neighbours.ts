// Links of a span (TRC-17): the pages of the objects that its attributes name.

import { attributeOf, functionOf, type Span } from './trace-span.ts';

export interface Neighbour {
  readonly label: string;
  readonly value: string;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

export function neighboursOf(span: Pick<Span, 'name' | 'attributes' | 'service_name'>): Neighbour[] {
  const found: Neighbour[] = [];
  const add = (
    label: string,
    value: string | undefined,
    to: string,
    search: (id: string) => Record<string, string>,
  ): void => {
    if (value !== undefined && value !== '') found.push({ label, value, to, search: search(value) });
  };
  add('Function', functionOf(span), '/functions', (id) => ({ id }));
  add('Called by worker', attributeOf(span, 'svc.caller.worker'), '/workers', (q) => ({ q }));
  const queue = attributeOf(span, 'messaging.destination.name');
  add('Queue', queue, '/queues', (name) => ({ queue: name }));
  add('Queue job', attributeOf(span, 'messaging.message.id'), '/queues', (id) => ({ queue: queue ?? '', id }));
  add('Trigger', attributeOf(span, 'trigger.id'), '/triggers', (id) => ({ id }));
  return found;
}
