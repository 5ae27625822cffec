// `svc-pubsub`: events. A publisher knows only the topic; every function bound to the topic is called.

import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding } from '../../router/builtin.ts';
import { redisUrl } from '../adapter-settings.ts';
import { adapterConfig, type ChosenAdapter, defineModule, HOLDS_NOTHING, type ModuleContext } from '../module.ts';
import { type EventBus, localBus } from './bus.ts';
import { eventsDeclaration, localAdapter, redisAdapter } from './config.ts';
import { emit, publish } from './functions.ts';
import { redisBus } from './redis-bus.ts';
import { eventTriggerTypes, Topics } from './triggers.ts';

export const eventsModule = defineModule({
  declaration: eventsDeclaration,
  create(context, _config, adapter) {
    const { router } = context;
    const bus = createBus(context, adapter);
    const topics = new Topics<Binding>();
    return {
      ...HOLDS_NOTHING,
      functions: [publish(bus), emit(bus, topics)],
      triggerTypes: eventTriggerTypes(topics),
      start: () => bus.start((event) => router.fire(topics.listeners(event.topic), Payload.ofText(event.data), event)),
      stop: () => bus.stop(),
      health: () => ({
        status: bus.trouble === undefined ? 'healthy' : 'unhealthy',
        adapter: adapter?.name ?? localAdapter.name,
        details: { ...bus.details(), ...(bus.trouble !== undefined && { trouble: bus.trouble }) },
      }),
    };
  },
});

function createBus({ router, clock, logger, cluster }: ModuleContext, adapter: ChosenAdapter | undefined): EventBus {
  const config = adapterConfig(adapter, redisAdapter);
  // In a cluster every engine knows all triggers: an event is fired where it is published, for all of them.
  if (config === undefined || cluster !== undefined) return localBus();
  return redisBus({
    async createLink() {
      const { RedisLink } = await import('../../effects/redis.ts');
      return new RedisLink({ url: redisUrl(config), purpose: 'events', clock, logger });
    },
    channel: `${config.key_prefix}events`,
    onUnreadable: () => router.count('events.dropped', 'unreadable'),
  });
}
