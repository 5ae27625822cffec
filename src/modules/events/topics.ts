// Who listens to which topic. A topic without a star costs one lookup, however many there are; only patterns are
// tried one by one.

import { Groups } from '../../core/groups.ts';
import { type Pattern, readPattern } from '../../core/pattern.ts';

export class Topics<Listener> {
  readonly #exact = new Groups<string, Listener>();
  readonly #patterns = new Map<Listener, Pattern>();

  /** `topic` was found good by `topicOffence`. */
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

  /** Everybody who listens to this topic. */
  listeners(topic: string): Listener[] {
    const found = [...this.#exact.of(topic)];
    for (const [listener, pattern] of this.#patterns) if (pattern.matches(topic)) found.push(listener);
    return found;
  }
}
