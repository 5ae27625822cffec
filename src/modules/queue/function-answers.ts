// What functions of queues answer that the console does not read (src/console/api/builtin-answers.ts has the others).

export interface QueueAnswers {
  'engine::queue::dlq_topics': { topic: string; broker_type: string; message_count: number }[];
  'engine::queue::list_topics': ListedTopic[];
  'engine::queue::pause': PausedQueue;
  'engine::queue::progress': null;
  'engine::queue::recovery': QueueRecoveryAnswer;
  'engine::queue::resume': PausedQueue;
  'svc::queue::discard_message': { queue: string; message_id: string; redriven: number; discarded: number };
  'svc::queue::purge': { queue: string; discarded: number; skipped?: number };
  'svc::queue::recover': { discarded: number };
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

export interface QueueRecoveryAnswer {
  /** Whether jobs are held back. */
  is_needed: boolean;
  held_back_since: number | null;
  /** How many changes the store has forgotten, at least. */
  changes_missing: number;
  /** In the store. */
  jobs: number;
  /** Engines on this store, and whether each one has reported what it remembers. */
  engines: { id: string; has_reported: boolean }[];
  /** Jobs in the store that ran already: the first of them. */
  run_again: {
    messageReceiptId: string;
    queue: string;
    function_id: string;
    enqueued_at: number;
    /** `running`: it runs now, and its engine cannot report the end. */
    state: 'done' | 'running';
  }[];
  run_again_total: number;
}
