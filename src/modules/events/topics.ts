// The listeners of each topic. A topic without a star costs one lookup, regardless of their number; only patterns are
// compared one by one.

import { type Pattern, readPattern } from '../../core/access/pattern.ts';
import { Groups } from '../../core/registry/groups.ts';

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
