// The trigger types of the module: `event`, and `subscribe`, which is the same under the name that `iii` uses; and the
// listeners of each topic.

import { type Pattern, readPattern } from '../../core/access/pattern.ts';
import { fields, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import { Groups } from '../../core/registry/groups.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding, ModuleTriggerType } from '../../router/builtin.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';

const config = fields({
  topic: optional(text()),
  name: optional(text()),
  condition_function_id: CONDITION_FIELD,
});

const CONFIG_FORMAT = rawJson({
  type: 'object',
  properties: {
    topic: { type: 'string', description: 'Name of the event; * stands for any run of characters' },
    name: { type: 'string', description: 'Accepted in place of topic' },
    condition_function_id: { type: 'string' },
  },
  additionalProperties: false,
});

/** Both types fill one table of topics: an event fires the triggers of both. */
export function eventTriggerTypes(topics: Topics<Binding>): readonly ModuleTriggerType[] {
  const topicByBinding = new Map<Binding, string>();
  return ['event', 'subscribe'].map((id) => ({
    id,
    spec: {
      description: `Fires when an event of its topic is published${id === 'event' ? '' : '; the same as event'}`,
      configFormat: CONFIG_FORMAT,
      payloadFormat: rawJson({ description: 'The published data, unchanged' }),
    },
    refuse(given: unknown) {
      const read = readTopic(id, given);
      return read.ok ? undefined : read.reason;
    },
    bound(binding: Binding, given: unknown) {
      const read = readTopic(id, given);
      if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
      topics.add(read.topic, binding);
      topicByBinding.set(binding, read.topic);
    },
    unbound(binding: Binding) {
      topics.remove(topicByBinding.get(binding) ?? '', binding);
      topicByBinding.delete(binding);
    },
  }));
}

type ReadTopic = { readonly ok: true; readonly topic: string } | { readonly ok: false; readonly reason: string };

function readTopic(type: string, given: unknown): ReadTopic {
  const read = readTriggerConfig(type, config, given);
  if (!read.ok) return read;
  const topic = oneOf(read.config);
  const offence = topic === undefined ? 'topic is required, or name in its place; not both' : patternOffence(topic);
  if (topic === undefined || offence !== undefined) {
    return { ok: false, reason: `The config of the ${type} trigger: ${offence}` };
  }
  return { ok: true, topic };
}

function oneOf({ topic, name }: ValueOf<typeof config>): string | undefined {
  return topic !== undefined && name !== undefined ? undefined : (topic ?? name);
}

function patternOffence(topic: string): string | undefined {
  const offence = idOffence(topic);
  if (offence !== undefined) return `the topic ${offence}`;
  const read = readPattern(topic);
  return read.ok ? undefined : `the topic ${read.reason}`;
}

/**
 * The listeners of each topic. A topic without a star costs one lookup, regardless of their number; only patterns are
 * compared one by one.
 */
export class Topics<Listener> {
  readonly #exact = new Groups<string, Listener>();
  readonly #patterns = new Map<Listener, Pattern>();

  /** `topic` was accepted by `topicOffence`. */
  add(topic: string, listener: Listener): void {
    if (!topic.includes('*')) this.#exact.add(topic, listener);
    else {
      const read = readPattern(topic);
      if (!read.ok) throw new Error(`The pattern ${read.reason}`);
      this.#patterns.set(listener, read.pattern);
    }
  }

  remove(topic: string, listener: Listener): void {
    this.#exact.remove(topic, listener);
    this.#patterns.delete(listener);
  }

  /** All listeners of this topic. */
  listeners(topic: string): Listener[] {
    const found = [...this.#exact.of(topic)];
    for (const [listener, pattern] of this.#patterns) if (pattern.matches(topic)) found.push(listener);
    return found;
  }
}
