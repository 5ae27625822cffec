// The names of queues in the store. A queue of the file has its own name. A topic has a queue for each of its
// functions, and a queue may have a lane for jobs of restricted connections. These names contain a control character,
// which no name in the file and no id may contain, so that they collide with no other name.

const TOPIC_MARK = '\n';
const LANE_MARK = '\trestricted';

/** The queue between a topic and one function. */
export function topicQueue(topic: string, functionId: string): string {
  return `${topic}${TOPIC_MARK}${functionId}`;
}

export function isTopicQueue(name: string): boolean {
  return name.includes(TOPIC_MARK);
}

/** The lane of a queue for jobs of restricted connections. */
export function laneOf(queue: string): string {
  return `${queue}${LANE_MARK}`;
}

export function isLane(name: string): boolean {
  return name.endsWith(LANE_MARK);
}

/** Whether a caller can name it: a queue of the file, not a part of a queue or topic. */
export function isNamedQueue(name: string): boolean {
  return !isTopicQueue(name) && !isLane(name);
}

/** A lane is shown as its queue. */
export function withoutLane(name: string): string {
  return isLane(name) ? name.slice(0, -LANE_MARK.length) : name;
}

/** A queue of a topic is shown under the topic, and a lane as its queue. */
export function shownName(name: string): string {
  const end = name.indexOf(TOPIC_MARK);
  return end < 0 ? withoutLane(name) : name.slice(0, end);
}

/** For log lines and counters, which keep the two apart. */
export function loggedName(name: string): string {
  return isLane(name) ? `${withoutLane(name)} (restricted)` : name;
}
