// What functions of queues answer that the console does not read (src/console/api/builtin-answers.ts has the others).

export interface QueueAnswers {
  'engine::queue::dlq_topics': { topic: string; broker_type: string; message_count: number }[];
  'engine::queue::list_topics': ListedTopic[];
  'engine::queue::pause': PausedQueue;
  'engine::queue::progress': null;
  'engine::queue::resume': PausedQueue;
  'svc::queue::discard_message': { queue: string; message_id: string; redriven: number; discarded: number };
  'svc::queue::purge': { queue: string; discarded: number; skipped?: number };
  'svc::queue::redrive': { queue: string; redriven: number; skipped?: number };
  'svc::queue::redrive_message': { queue: string; message_id: string; redriven: number };
}

interface ListedTopic {
  name: string;
  broker_type: string;
  subscriber_count: number;
  /** Of a queue. */
  type?: 'standard' | 'fifo';
}

interface PausedQueue {
  queue: string;
  paused: boolean;
}
