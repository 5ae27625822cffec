// The topics, and their sources. A topic without subscribers costs nothing (API-1): a source that polls does so only
// while it has a watcher, once for all of them.

import { decodeSegment } from '../../../core/routing/route-pattern.ts';
import type { ConsoleContext } from '../console-context.ts';
import { failure } from '../sources/failure.ts';
import { openState, openStreams } from './change-topics.ts';
import { CountersFeed } from './counters-feed.ts';
import { Feed } from './feed.ts';
import { HealthFeed } from './health-feed.ts';
import { JobsFeed, QueuesFeed } from './queue-feeds.ts';
import { RegistryFeed } from './registry-feed.ts';
import type { Opening } from './subscription.ts';
import { openLogs, openTrace, openTraces } from './telemetry-topics.ts';

export class Topics {
  readonly #context: ConsoleContext;
  readonly #counters: CountersFeed;
  readonly #health: HealthFeed;
  readonly #registry: RegistryFeed;
  readonly #queues: QueuesFeed;
  readonly #jobs = new Map<string, JobsFeed>();

  constructor(context: ConsoleContext) {
    this.#context = context;
    this.#counters = new CountersFeed(context);
    this.#health = new HealthFeed(context);
    this.#registry = new RegistryFeed(context);
    this.#queues = new QueuesFeed(context);
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
        return openTrace(this.#context, opening, name);
      case 'state':
        return openState(this.#context, opening, name);
      case 'stream':
        return openStreams(this.#context, opening, { stream: name, group: names[1] });
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
        return openLogs(this.#context, opening);
      case 'traces':
        return openTraces(this.#context, opening);
      case 'streams':
        return openStreams(this.#context, opening, {});
      default:
        throw unknown(opening.topic);
    }
  }

  #jobsOf(queue: string): JobsFeed {
    for (const [name, feed] of this.#jobs) if (feed.isIdle) this.#jobs.delete(name);
    const feed = this.#jobs.get(queue) ?? new JobsFeed(this.#context, queue);
    this.#jobs.set(queue, feed);
    return feed;
  }

  #openTask({ topic, subscription }: Opening, id: string): void {
    const { tasks } = this.#context;
    const task = tasks.get(id);
    subscription.close = tasks.watch(id, (changed) => subscription.push(Feed.text(changed)));
    subscription.opened(topic, null);
    subscription.push(Feed.text(task));
  }
}

function unknown(topic: string) {
  return failure('NOT_FOUND', `There is no topic '${topic.slice(0, 300)}'`);
}
