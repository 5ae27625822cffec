// Dead letters: list, redrive one or all, edit, discard, purge (Q10).

import type { BuiltinAnswers } from '../../console/api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { ErrorGroups } from '../../core/queue/error-groups.ts';
import { isTopicQueue, shownName } from '../../core/queue/queue-names.ts';
import { validateMessage, validateMoves, validateQueue, validateTopicPage } from '../../generated/module-payloads.ts';
import { isDeadRows } from '../../generated/queue-shapes.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { AnyBuiltin, RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOf } from '../../router/calls/call.ts';
import { parseAs } from '../../store/commands/queue/encoding.ts';
import { CommandInput } from '../../store/thread/command-input.ts';
import { type DeadLetters, needed } from './adapters/capabilities.ts';
import { deadLetterRows } from './dead-letter-page.ts';
import type { QueueAnswers } from './function-answers.ts';
import { innerNames, type MessagePayload, namedQueue, type QueueFunctionContext } from './function-payloads.ts';

const LISTED_DEFAULT = 50;
const LISTED_MAX = 1_000;
const IDS_MAX = 1_000;

export function deadLetterFunctions(context: QueueFunctionContext): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::dlq_topics',
      description: 'Lists the queues and topics that have dead letters',
      async handle(): Promise<QueueAnswers['engine::queue::dlq_topics']> {
        const counts = new Map<string, { topic: string; broker_type: string; message_count: number }>();
        for (const { queue, dead } of await context.adapter.stats()) {
          if (dead === 0) continue;
          const topic = shownName(queue);
          const brokerType = isTopicQueue(queue) ? context.adapter.name : 'function_queue';
          const known = counts.get(topic) ?? { topic, broker_type: brokerType, message_count: 0 };
          counts.set(topic, { ...known, message_count: known.message_count + dead });
        }
        return [...counts.values()];
      },
    },
    list(context),
    groups(context),
    moveMany(
      'svc::queue::redrive',
      'Puts the dead letters of a queue back, oldest first, or those with these ids',
      context,
    ),
    moveMany('svc::queue::purge', 'Discards the dead letters of a queue, or those with these ids', context),
    redriveMessage(context),
    {
      id: 'svc::queue::discard_message',
      description: 'Discards one dead letter',
      async handle(payload): Promise<QueueAnswers['svc::queue::discard_message']> {
        const input = readPayload('svc::queue::discard_message', validateMessage, payload);
        const moved = await move(context, input, (deadLetters, queue, id) => deadLetters.discard(queue, id));
        return { ...moved, discarded: moved.redriven };
      },
    },
  ];
}

/** Payloads are shown as they were enqueued: the list is never parsed here. */
function list({ adapter, queues, topics }: QueueFunctionContext): RawBuiltinDefinition {
  const id = 'engine::queue::dlq_messages';
  return {
    id,
    description: 'Lists the dead letters of a queue or topic, newest first',
    handleRaw(payload, _call, done) {
      const text = payload?.asText();
      const input = readPayload(id, validateTopicPage, text === undefined ? {} : parseRawJson(text));
      const name = namedQueue(input, 'topic_not_set');
      const offset = Math.max(0, Math.trunc(input.offset ?? 0));
      const limit = Math.min(LISTED_MAX, Math.max(1, Math.trunc(input.limit ?? LISTED_DEFAULT)));
      const one = typeof input.message_id === 'string' ? { id: input.message_id } : {};
      const bare = input.payloads === false ? { withoutPayload: true } : {};
      const pages = innerNames(name, { queues, topics }).map((queue) => {
        const { groupField } = queues.find(queue)?.settings.rules ?? {};
        const field = groupField === undefined ? {} : { groupField };
        return { queue, offset, limit, ...one, ...bare, ...field };
      });
      deadLetterRows(needed(adapter, 'deadLetters'), pages).then(
        (rows) => {
          const bytes = Buffer.concat([OPEN, ...rows.flatMap((row, at) => (at === 0 ? [row] : [COMMA, row])), CLOSE]);
          done({ result: Payload.ofBytes(bytes, 0, bytes.length) });
        },
        (error: unknown) =>
          done(outcomeOf(error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error)))),
      );
    },
  };
}

/** Newest first, up to the limit of one call: the answer says whether that was all. */
function groups({ adapter, queues, topics }: QueueFunctionContext): AnyBuiltin {
  const id = 'engine::queue::dlq_groups';
  return {
    id,
    description: 'Groups the dead letters of a queue or topic by their error, digits and ids folded',
    async handle(payload): Promise<BuiltinAnswers['engine::queue::dlq_groups']> {
      const name = namedQueue(readPayload(id, validateQueue, payload), 'topic_not_set');
      const deadLetters = needed(adapter, 'deadLetters');
      const found = new ErrorGroups();
      let isComplete = true;
      for (const queue of innerNames(name, { queues, topics })) {
        for (let offset = 0; ; offset += LISTED_MAX) {
          const page = { queue, offset, limit: LISTED_MAX, withoutPayload: true };
          const rows = parseAs(await deadLetters.list(page), isDeadRows);
          for (const row of rows) found.add(row);
          if (rows.length < LISTED_MAX) break;
          if (offset + LISTED_MAX < GROUPED_MAX) continue;
          isComplete = false;
          break;
        }
      }
      return { groups: found.largestFirst, scanned: found.rows, complete: isComplete };
    },
  };
}

const GROUPED_MAX = 10_000;

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function moveMany(id: string, description: string, context: QueueFunctionContext): AnyBuiltin {
  const { adapter, queues } = context;
  const verb = id.endsWith('redrive') ? 'redrive' : 'discard';
  return {
    id,
    description,
    async handle(payload) {
      const input = readPayload(id, validateMoves, payload);
      const name = namedQueue(input);
      const ids = input.ids ?? undefined;
      if (ids !== undefined && ids.length > IDS_MAX) {
        throw new Refusal('BAD_REQUEST', `${ids.length} ids were given, over the limit of ${IDS_MAX} of one call`);
      }
      const deadLetters = needed(adapter, 'deadLetters');
      let count = 0;
      for (const queue of innerNames(name, context)) {
        const counts = await Promise.all(
          ids?.map((one) => deadLetters[verb](queue, one)) ?? [deadLetters[verb](queue)],
        );
        count += counts.reduce((sum, moved) => sum + moved, 0);
        queues.find(queue)?.nudge();
      }
      const skipped = ids === undefined ? {} : { skipped: ids.length - count };
      return { queue: name, [verb === 'redrive' ? 'redriven' : 'discarded']: count, ...skipped };
    },
  };
}

/** A given `payload` replaces the enqueued one. */
function redriveMessage(context: QueueFunctionContext): RawBuiltinDefinition {
  const id = 'svc::queue::redrive_message';
  return {
    id,
    description: 'Puts one dead letter back, with another payload if one is given',
    handleRaw(payload, _call, done) {
      const text = payload?.asText();
      const bytes = payload?.asJsonBytes() ?? Buffer.alloc(0);
      const input = readPayload(id, validateMessage, text === undefined ? {} : parseRawJson(text));
      const edited = new CommandInput(id, bytes).json('payload');
      const copy = edited === undefined ? undefined : Buffer.from(edited);
      if (copy !== undefined && copy.length > context.payloadBytesMax) {
        const words = `The payload has ${copy.length} bytes, over the limit of ${context.payloadBytesMax} of a job`;
        throw new Refusal('PAYLOAD_TOO_LARGE', words);
      }
      move(context, input, (deadLetters, queue, message) => deadLetters.redrive(queue, message, copy)).then(
        (moved) => {
          const json = Buffer.from(JSON.stringify(moved));
          done({ result: Payload.ofBytes(json, 0, json.length) });
        },
        (error: unknown) =>
          done(outcomeOf(error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error)))),
      );
    },
  };
}

/** `redriven` is 1 or 0: whether it existed. */
async function move(
  context: QueueFunctionContext,
  input: MessagePayload,
  act: (deadLetters: DeadLetters, queue: string, id: string) => Promise<number>,
): Promise<QueueAnswers['svc::queue::redrive_message']> {
  const name = namedQueue(input);
  const { message_id: id } = input;
  if (typeof id !== 'string' || id === '') throw new Refusal('message_id_not_set', 'The message_id is not set');
  const deadLetters = needed(context.adapter, 'deadLetters');
  for (const queue of innerNames(name, context)) {
    if ((await act(deadLetters, queue, id)) === 0) continue;
    context.queues.find(queue)?.nudge();
    return { queue: name, message_id: id, redriven: 1 };
  }
  return { queue: name, message_id: id, redriven: 0 };
}
