// The functions of queues that all callers use (modules 6.6, PD-34, PD-38). Functions for administrators have files of
// their own.

import { Refusal, unreadablePayload } from '../../core/calls/refusal.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { AnyBuiltin, BuiltinCall, RawBuiltinDefinition } from '../../router/builtin.ts';
import { type Outcome, outcomeOf, outcomeOfValue } from '../../router/calls/call.ts';
import { CommandInput } from '../../store/thread/command-input.ts';
import { ANY, objectFormat, TEXT } from '../function-formats.ts';
import { deadLetterFunctions } from './dead-letter-functions.ts';
import type { QueueFunctionContext } from './function-payloads.ts';
import { groupFunctions, jobFunctions } from './job-functions.ts';
import { overviewFunctions } from './overview-functions.ts';
import { recoveryFunctions } from './recovery-functions.ts';

export function queueFunctions(context: QueueFunctionContext): readonly AnyBuiltin[] {
  return [
    publish('svc::durable::publish', context),
    publish('enqueue', context),
    ...overviewFunctions(context),
    ...jobFunctions(context),
    ...groupFunctions(context),
    ...deadLetterFunctions(context),
    ...recoveryFunctions(context),
  ];
}

function publish(id: string, { topics, payloadBytesMax }: QueueFunctionContext): RawBuiltinDefinition {
  return {
    id,
    description: 'Publishes a message: every subscribed function gets a copy, at least once',
    requestFormat: objectFormat({ topic: TEXT }, { data: ANY }),
    responseFormat: rawJson({ type: 'null' }),
    handleRaw(payload: Payload | undefined, call: BuiltinCall, done: (outcome: Outcome) => void): void {
      const bytes = payload === undefined ? Buffer.alloc(0) : payload.asJsonBytes();
      if (bytes === undefined) throw unreadablePayload(`the payload for ${id}`, payload);
      const input = new CommandInput(id, bytes);
      const topic = readTopic(input.json('topic'));
      const data = Buffer.from(input.json('data') ?? Buffer.from('null'));
      if (data.length > payloadBytesMax) {
        const text = `The data has ${data.length} bytes, over the limit of ${payloadBytesMax} of a message`;
        throw new Refusal('PAYLOAD_TOO_LARGE', text);
      }
      topics.publish(topic, data, call).then(
        () => done(outcomeOfValue(null)),
        (error: unknown) => done(outcomeOf(asRefusal(error))),
      );
    },
  };
}

function readTopic(json: Buffer | undefined): string {
  const topic: unknown = json === undefined ? undefined : JSON.parse(json.toString('utf8'));
  if (typeof topic !== 'string' || topic === '') {
    throw new Refusal('topic_not_set', 'The topic of the message is not set');
  }
  const offence = idOffence(topic);
  if (offence !== undefined) throw new Refusal('BAD_REQUEST', `The topic ${offence}`);
  return topic;
}

function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error));
}
