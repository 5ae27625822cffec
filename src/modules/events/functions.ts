// `publish`, which clients of `iii` call, and `engine::events::emit`, which also returns the triggers that it fires.

import type { BuiltinAnswers } from '../../console/api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { distinctBindings } from '../../core/registry/trigger-table.ts';
import { validateEmit, validatePublish } from '../../generated/module-payloads.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { RAW_NULL, rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding, BuiltinDefinition } from '../../router/builtin.ts';
import { mayBeShown } from '../../router/restricted/reach.ts';
import { ANY, objectFormat, TEXT } from '../function-formats.ts';
import { memberAsSent } from '../raw-payload.ts';
import type { EventBus } from './bus.ts';
import type { Topics } from './triggers.ts';

export function publish(bus: EventBus): BuiltinDefinition {
  const id = 'publish';
  return {
    id,
    description: 'Publishes an event: every function bound to its topic is called with the data',
    requestFormat: objectFormat({ topic: TEXT }, { data: ANY }),
    responseFormat: rawJson({ type: 'null' }),
    handle(payload, { depth, traceparent, baggage, sent }) {
      const { topic } = readPayload(id, validatePublish, payload);
      const data = memberAsSent(sent, 'data') ?? RAW_NULL;
      const delivery = bus.publish({ topic: readTopic(topic), data, depth, traceparent, baggage });
      return delivery instanceof Promise ? delivery.then(() => null) : null;
    },
  };
}

export function emit(bus: EventBus, topics: Topics<Binding>): BuiltinDefinition {
  const id = 'engine::events::emit';
  return {
    id,
    description: 'Publishes an event and lists the triggers of this engine that it fires',
    async handle(
      payload,
      { depth, traceparent, baggage, rights, sent },
    ): Promise<BuiltinAnswers['engine::events::emit']> {
      const { topic: named, name, data: first } = readPayload(id, validateEmit, payload);
      const topic = readTopic(named ?? name);
      const triggers = distinctBindings(topics.listeners(topic))
        // All of them fire; a caller with rights sees only those that it may see (X10).
        .filter((binding) => mayBeShown(rights, binding))
        .map(({ id, type, functionId }) => ({ id, trigger_type: type, function_id: functionId }));
      const data = memberAsSent(sent, first === undefined || first === null ? 'payload' : 'data') ?? RAW_NULL;
      const { engines } = await bus.publish({ topic, data, depth, traceparent, baggage });
      return { topic, triggers, engines };
    },
  };
}

function readTopic(topic: string | null | undefined): string {
  if (topic === undefined || topic === null || topic === '') {
    throw new Refusal('topic_not_set', 'The topic of the event is not set');
  }
  const offence = idOffence(topic);
  if (offence !== undefined) throw new Refusal('BAD_REQUEST', `The topic ${offence}`);
  if (topic.includes('*')) {
    throw new Refusal('BAD_REQUEST', `The topic '${topic}' has a star: only subscriptions may use wildcards`);
  }
  return topic;
}
