// Dead letters: list, redrive one or all, edit, discard, purge (Q10).

import type { BuiltinAnswers } from '../../console-api/builtin-answers.ts';
import { readPayload } from '../../core/calls/read-payload.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { validateMessage, validateMoves, validateQueue, validateTopicPage } from '../../generated/queue-payloads.ts';
import { isDeadRows } from '../../generated/queue-shapes.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { AnyBuiltin, RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOf } from '../../router/calls/reply.ts';
import { parseAs } from '../../store/commands/queue/marks.ts';
import { CommandInput } from '../../store/thread/command-input.ts';
import { deadLetterRows } from './dead-letter-page.ts';
import { ErrorGroups } from './error-groups.ts';
import { type FunctionParts, innerNames, namedQueue, shownName } from './function-parts.ts';
import type { MessagePayload } from './payloads.ts';
import { isTopicQueue } from './queues.ts';

const LISTED_DEFAULT = 50;
const LISTED_MAX = 1_000;
const IDS_MAX = 1_000;

export function deadLetterFunctions(parts: FunctionParts): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::dlq_topics',
      description: 'Lists the queues and topics that have dead letters',
      async handle() {
        const counts = new Map<string, { topic: string; broker_type: string; message_count: number }>();
        for (const { queue, dead } of await parts.adapter.stats()) {
          if (dead === 0) continue;
          const topic = shownName(queue);
          const brokerType = isTopicQueue(queue) ? parts.adapter.name : 'function_queue';
          const known = counts.get(topic) ?? { topic, broker_type: brokerType, message_count: 0 };
          counts.set(topic, { ...known, message_count: known.message_count + dead });
        }
        return [...counts.values()];
      },
    },
    list(parts),
    groups(parts),
    moveMany(
      'svc::queue::redrive',
      'Puts the dead letters of a queue back, oldest first, or those with these ids',
      parts,
    ),
    moveMany('svc::queue::purge', 'Discards the dead letters of a queue, or those with these ids', parts),
    redriveMessage(parts),
    {
      id: 'svc::queue::discard_message',
      description: 'Discards one dead letter',
      async handle(payload) {
        const input = readPayload('svc::queue::discard_message', validateMessage, payload);
        const count = await move(parts, input, (queue, id) => parts.adapter.discard(queue, id));
        return { queue: namedQueue(input), message_id: input.message_id, redriven: count, discarded: count };
      },
    },
  ];
}

/** Payloads are shown as they were enqueued: the list is never parsed here. */
function list({ adapter, queues, topics }: FunctionParts): RawBuiltinDefinition {
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
      deadLetterRows(adapter, pages).then(
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
function groups({ adapter, queues, topics }: FunctionParts): AnyBuiltin {
  const id = 'engine::queue::dlq_groups';
  return {
    id,
    description: 'Groups the dead letters of a queue or topic by their error, digits and ids folded',
    async handle(payload): Promise<BuiltinAnswers['engine::queue::dlq_groups']> {
      const name = namedQueue(readPayload(id, validateQueue, payload), 'topic_not_set');
      const found = new ErrorGroups();
      let isComplete = true;
      for (const queue of innerNames(name, { queues, topics })) {
        for (let offset = 0; ; offset += LISTED_MAX) {
          const page = { queue, offset, limit: LISTED_MAX, withoutPayload: true };
          const rows = parseAs(await adapter.deadLetters(page), isDeadRows);
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

function moveMany(id: string, description: string, parts: FunctionParts): AnyBuiltin {
  const { adapter, queues } = parts;
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
      let count = 0;
      for (const queue of innerNames(name, parts)) {
        const counts = await Promise.all(ids?.map((one) => adapter[verb](queue, one)) ?? [adapter[verb](queue)]);
        count += counts.reduce((sum, moved) => sum + moved, 0);
        queues.find(queue)?.nudge();
      }
      const skipped = ids === undefined ? {} : { skipped: ids.length - count };
      return { queue: name, [verb === 'redrive' ? 'redriven' : 'discarded']: count, ...skipped };
    },
  };
}

/** A given `payload` replaces the enqueued one. */
function redriveMessage(parts: FunctionParts): RawBuiltinDefinition {
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
      if (copy !== undefined && copy.length > parts.payloadBytesMax) {
        const words = `The payload has ${copy.length} bytes, over the limit of ${parts.payloadBytesMax} of a job`;
        throw new Refusal('PAYLOAD_TOO_LARGE', words);
      }
      move(parts, input, (queue, message) => parts.adapter.redrive(queue, message, copy)).then(
        (count) => {
          const answer = { queue: namedQueue(input), message_id: input.message_id, redriven: count };
          const json = Buffer.from(JSON.stringify(answer));
          done({ result: Payload.ofBytes(json, 0, json.length) });
        },
        (error: unknown) =>
          done(outcomeOf(error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error)))),
      );
    },
  };
}

/** 1 or 0: whether it existed. */
async function move(
  parts: FunctionParts,
  input: MessagePayload,
  act: (queue: string, id: string) => Promise<number>,
): Promise<number> {
  const name = namedQueue(input);
  const { message_id: id } = input;
  if (typeof id !== 'string' || id === '') throw new Refusal('message_id_not_set', 'The message_id is not set');
  for (const queue of innerNames(name, parts)) {
    if ((await act(queue, id)) === 0) continue;
    parts.queues.find(queue)?.nudge();
    return 1;
  }
  return 0;
}
