// A door of its own: for the page that asks for triggers by what changes. Few do, so all the others need not load it.

export {
  type LogTrigger,
  type LogTriggerOptions,
  onLog,
  onState,
  onStream,
  type StateTrigger,
  type StateTriggerOptions,
  type StreamTrigger,
  type StreamTriggerCustomEvent,
  type StreamTriggerEvent,
  type StreamTriggerOptions,
} from '../sdk/data-triggers.ts';
