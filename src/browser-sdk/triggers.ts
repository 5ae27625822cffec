// A separate entry point for pages with triggers on changes. Few pages have them, and no other page loads it.

export {
  type LogTrigger,
  type LogTriggerOptions,
  onLog,
  onQueue,
  onState,
  onStream,
  type QueueTrigger,
  type QueueTriggerOptions,
  type StateTrigger,
  type StateTriggerOptions,
  type StreamTrigger,
  type StreamTriggerCustomEvent,
  type StreamTriggerEvent,
  type StreamTriggerOptions,
} from '../sdk/triggers/data-triggers.ts';
