// Changes in a Redis that become jobs of a queue (S5, PD-54): the script of a change writes its jobs into the outbox of
// their place, and an engine that works on that place moves them to the queue (`modules/change-jobs.ts`).
//
// Every engine has a plan of its own and keeps the jobs of its own changes. The outbox belongs to all engines with the
// same place, so that the jobs of an engine that ended are moved by another. One engine has a page in hand at a time,
// or jobs of a FIFO group could overtake each other (F3).

import { Refusal } from '../../core/calls/refusal.ts';
import type { ChangePlan, ChangeTarget, KeptChange, OutboxPage } from '../../core/queue/shapes.ts';
import { isChangePlan, isKeptJobHead, isOutboxAsk, isOutboxDrop } from '../../generated/queue-shapes.ts';
import {
  ENTRIES_MAX,
  outboxFull,
  PAGE_BYTES_MAX,
  PAGE_ENTRIES_MAX,
  PAGE_JOBS_MAX,
} from '../commands/change-outbox/entries.ts';
import { isMeant, jobTooLarge, NOT_MADE, within } from '../commands/change-outbox/targets.ts';
import { encodeFramed, parseAs, toJson } from '../commands/queue/encoding.ts';
import type { CommandContext } from '../thread/contract.ts';
import { inKey, type RedisAccess, type RedisCommand } from './commands.ts';
import { DROP_JOBS, OLDEST_JOBS } from './outbox-scripts.ts';
import { bytesIn, linesOf, listIn, textIn, wholeNumber } from './record.ts';

/** What a script knew when it made the change. */
export interface KeptValues {
  readonly epoch: string;
  readonly seq: number;
  readonly old: Buffer | undefined;
  readonly new: Buffer | undefined;
}

export interface RedisOutboxOptions extends Pick<RedisAccess, 'link' | 'keyPrefix' | 'newTag'> {
  /** The owner of the changes. */
  readonly owner: string;
  /** The payload of a job. */
  bodyOf(change: KeptChange, values: KeptValues): Uint8Array;
}

/** The part of a change that its script needs to keep jobs. */
export interface JobsOfChange {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Throws the reason why the script did not make the change. `judged`: its answer. */
  refuse(judged: unknown): never;
  /** The reasons why the script made the change without some of its jobs. */
  missing(judged: unknown): string[];
}

/** The longest time that an engine may take to move a page, before another moves it too: repeats are the same jobs. */
const LEASE_MS = 10_000;
const SEQ_DIGITS_MAX = 16;

export class RedisOutbox {
  readonly #options: RedisOutboxOptions;
  readonly #holder: string;
  #plan: ChangePlan | undefined;

  constructor(options: RedisOutboxOptions) {
    this.#options = options;
    this.#holder = options.newTag();
  }

  /** `emptyBody`: the payload of a job whose values are empty and whose number is 0. */
  jobsOf(changeOf: () => KeptChange, context: CommandContext, emptyBody: () => Uint8Array): JobsOfChange | undefined {
    const { targets = [], place } = this.#plan ?? {};
    if (place === undefined || targets.length === 0) return undefined;
    const change = changeOf();
    const meant = targets.filter((target) => isMeant(target, change));
    if (meant.length === 0) return undefined;
    const tag = this.#options.newTag();
    const otherBytes = emptyBody().length + SEQ_DIGITS_MAX;
    const jobs = meant.flatMap((target, index) => {
      const { queue, facts, payloadBytesMax } = within(target, context.trace);
      // No two changes have the same tag: repeats of one job have the same key, and no other has it.
      const head = { queue, facts, key: `${tag} ${index}`, change };
      return [String(payloadBytesMax - otherBytes), JSON.stringify(queue), JSON.stringify(head)];
    });
    const { entries, next } = this.#keysOf(place);
    return {
      keys: [entries, next],
      args: [String(ENTRIES_MAX), ...jobs],
      refuse(judged) {
        const [{ code, message } = outboxFull()] = reasonsOf(meant, judged);
        throw new Refusal(code, `${NOT_MADE}: ${message}`);
      },
      missing: (judged) => reasonsOf(meant, judged).map(({ message }) => message),
    };
  }

  get commands(): Readonly<Record<string, RedisCommand>> {
    const { link } = this.#options;
    return {
      'outbox::plan': async (input) => {
        this.#plan = parseAs(input, isChangePlan);
        const { targets, place } = this.#plan;
        if (targets.length > 0 && place !== undefined) await link.run(['SADD', this.#placesKey, place]);
        return { result: toJson({ held: [] }) };
      },

      'outbox::places': async () => {
        const places = listIn(await link.run(['SMEMBERS', this.#placesKey])).map(textIn);
        const counts = await Promise.all(places.map((place) => link.run(['ZCARD', this.#keysOf(place).entries])));
        const waiting = places.map((place, index) => ({ place, jobs: Number(counts[index]) }));
        return { result: toJson({ places: waiting.filter(({ jobs }) => jobs > 0) }) };
      },

      'outbox::oldest': async (input) => {
        const { after, refusing, place } = parseAs(input, isOutboxAsk);
        if (place === undefined) return { result: encodeFramed({ jobs: [], lookedTo: after, hasMore: false }) };
        const { entries, lease } = this.#keysOf(place);
        const limits = [PAGE_ENTRIES_MAX, PAGE_JOBS_MAX, PAGE_BYTES_MAX].map(String);
        const skipped = refusing.map((queue) => JSON.stringify(queue));
        const args = [String(after), ...limits, this.#holder, String(LEASE_MS), ...skipped];
        return { result: this.#pageOf(after, await link.runScript(OLDEST_JOBS, [entries, lease], args)) };
      },

      'outbox::drop': async (input) => {
        const { seqs, place } = parseAs(input, isOutboxDrop);
        if (place === undefined) return {};
        const { entries, lease } = this.#keysOf(place);
        await link.runScript(DROP_JOBS, [entries, lease], [this.#holder, ...seqs.map(String)]);
        return {};
      },
    };
  }

  #pageOf(after: number, reply: unknown): Buffer {
    if (reply === 0) return encodeFramed({ jobs: [], lookedTo: after, hasMore: false, isBusy: true });
    const [last, more, found] = listIn(reply);
    const page: OutboxPage = { jobs: [], lookedTo: wholeNumber(textIn(last)), hasMore: more === 1 };
    const payloads = listIn(found).map((entry) => {
      const { lines, rest } = linesOf(bytesIn(entry), 6);
      const [number = '', , headJson = '', epoch = '', seq = '', oldBytes = ''] = lines;
      const { change, ...head } = parseAs(Buffer.from(headJson), isKeptJobHead);
      const end = Math.max(0, Number(oldBytes));
      const after = rest.subarray(end);
      const values = {
        epoch,
        seq: wholeNumber(seq),
        old: Number(oldBytes) < 0 ? undefined : rest.subarray(0, end),
        new: after.length === 0 ? undefined : after,
      };
      const body = this.#options.bodyOf(change, values);
      page.jobs.push({ ...head, seq: wholeNumber(number), bytes: body.length });
      return body;
    });
    return encodeFramed(page, ...payloads);
  }

  get #placesKey(): string {
    const { keyPrefix, owner } = this.#options;
    return `${keyPrefix}${owner}:outboxes`;
  }

  #keysOf(place: string) {
    const { keyPrefix, owner } = this.#options;
    const front = `${keyPrefix}${owner}:outbox:{${inKey(place)}}`;
    return { entries: `${front}:jobs`, next: `${front}:next`, lease: `${front}:lease` };
  }
}

/** Of the jobs that could not be kept. */
function reasonsOf(targets: readonly ChangeTarget[], judged: unknown): Refusal[] {
  return listIn(judged).flatMap((why, index) => {
    const target = targets[index];
    const text = textIn(why);
    if (target === undefined || text === '') return [];
    return [text === 'full' ? outboxFull() : jobTooLarge(target)];
  });
}
