// The topics, and their sources. A topic without subscribers costs nothing (API-1): a source that polls does so only
// while it has a watcher, once for all of them.

import type { LiveFilter } from '../../../console-api/live.ts';
import { decodeSegment } from '../../../core/routing/route-pattern.ts';
import type { Desk } from '../desk.ts';
import { failure } from '../facts/failure.ts';
import { CountersFeed } from './counters-feed.ts';
import { Feed } from './feed.ts';
import { HealthFeed } from './health-feed.ts';
import { openLogs } from './log-topic.ts';
import { JobsFeed, QueuesFeed } from './queue-feeds.ts';
import { RegistryFeed } from './registry-feed.ts';
import { openState } from './state-topic.ts';
import { openStreams } from './stream-topic.ts';
import type { LiveSubscription } from './subscription.ts';
import { openTrace, openTraces } from './trace-topics.ts';

export interface Opening {
  readonly topic: string;
  readonly filter: LiveFilter;
  readonly since: string | undefined;
  readonly subscription: LiveSubscription;
  /** The topic could not be opened, or cannot continue. */
  failed(error: unknown): void;
}

export class Topics {
  readonly #desk: Desk;
  readonly #counters: CountersFeed;
  readonly #health: HealthFeed;
  readonly #registry: RegistryFeed;
  readonly #queues: QueuesFeed;
  readonly #jobs = new Map<string, JobsFeed>();

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#counters = new CountersFeed(desk);
    this.#health = new HealthFeed(desk);
    this.#registry = new RegistryFeed(desk);
    this.#queues = new QueuesFeed(desk);
  }

  start(): void {
    this.#counters.record();
  }

  /** Throws an `ApiFailure` for a topic that does not exist. */
  open(opening: Opening): void {
    const { topic } = opening;
    const colon = topic.indexOf(':');
    if (colon < 0) return this.#openPlain(opening);
    const parts = topic
      .slice(colon + 1)
      .split('/')
      .map(decodeSegment);
    const names = parts.filter((name) => name !== undefined && name !== '');
    const [name] = names;
    if (name === undefined || names.length < parts.length) throw unknown(topic);
    switch (topic.slice(0, colon)) {
      case 'queue':
        return this.#jobsOf(name).add(opening);
      case 'trace':
        return openTrace(this.#desk, opening, name);
      case 'state':
        return openState(this.#desk, opening, name);
      case 'stream':
        return openStreams(this.#desk, opening, { stream: name, group: names[1] });
      case 'task':
        return this.#openTask(opening, name);
      default:
        throw unknown(topic);
    }
  }

  stop(): void {
    this.#counters.stopRecording();
    for (const feed of this.#feeds()) feed.stop();
  }

  #feeds(): Feed[] {
    return [this.#counters, this.#health, this.#registry, this.#queues, ...this.#jobs.values()];
  }

  #openPlain(opening: Opening): void {
    switch (opening.topic) {
      case 'counters':
        return this.#counters.add(opening);
      case 'health':
        return this.#health.add(opening);
      case 'registry':
        return this.#registry.add(opening);
      case 'queues':
        return this.#queues.add(opening);
      case 'logs':
        return openLogs(this.#desk, opening);
      case 'traces':
        return openTraces(this.#desk, opening);
      case 'streams':
        return openStreams(this.#desk, opening, {});
      default:
        throw unknown(opening.topic);
    }
  }

  #jobsOf(queue: string): JobsFeed {
    for (const [name, feed] of this.#jobs) if (feed.isIdle) this.#jobs.delete(name);
    const feed = this.#jobs.get(queue) ?? new JobsFeed(this.#desk, queue);
    this.#jobs.set(queue, feed);
    return feed;
  }

  #openTask({ topic, subscription }: Opening, id: string): void {
    const { tasks } = this.#desk;
    const task = tasks.get(id);
    subscription.close = tasks.watch(id, (changed) => subscription.push(Feed.text(changed)));
    subscription.opened(topic, null);
    subscription.push(Feed.text(task));
  }
}

function unknown(topic: string) {
  return failure('NOT_FOUND', `There is no topic '${topic.slice(0, 300)}'`);
}
