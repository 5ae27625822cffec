import { expect, test } from 'vitest';
import { Topics } from '../../../../src/modules/events/topics.ts';

function listenersOf(topic: string, ...subscriptions: readonly string[]): string[] {
  const topics = new Topics<{ topic: string }>();
  for (const subscription of subscriptions) topics.add(subscription, { topic: subscription });
  return topics.listeners(topic).map((listener) => listener.topic);
}

test('[modules 8] A topic reaches its exact subscribers', () => {
  expect(listenersOf('user.created', 'user.created', 'user.deleted', 'User.created', 'user')).toEqual(['user.created']);
});

test('[PD-23] A star matches any run of characters, and every other character itself', () => {
  expect(listenersOf('user.created', 'user.*', '*.created', '*', 'u*d', 'user.*.x', 'order.*', 'user?created')).toEqual(
    ['user.*', '*.created', '*', 'u*d'],
  );
});

test('[modules 8] Removing one removes no other', () => {
  const topics = new Topics<object>();
  const [first, second, third] = [{}, {}, {}];
  topics.add('a', first);
  topics.add('a', second);
  topics.add('*', third);
  topics.remove('a', first);
  expect(topics.listeners('a')).toEqual([second, third]);
  topics.remove('*', third);
  expect(topics.listeners('a')).toEqual([second]);
});
