// What the module needs from the store of ticks that were run (CR1), and its form in a local store.

import { isClaimAnswer, isOpenAnswer } from '../../generated/cron-payloads.ts';
import type { Store, StoreReply } from '../../store/thread/contract.ts';

export interface Tick {
  /** The key of the trigger: equal for replicas and across restarts. */
  readonly trigger: string;
  /** The scheduled moment, Unix milliseconds. */
  readonly atMs: number;
  /** Whether it directly follows the tick that was settled before. */
  readonly follows: boolean;
}

/** For each tick whether it may run now; or why that is unknown. */
export type ClaimOutcome =
  | { readonly ok: true; readonly won: readonly boolean[] }
  | { readonly ok: false; readonly reason: string };

export interface TickClaims {
  readonly trouble: string | undefined;
  start(): Promise<void>;
  stop(): void;
  /** For health. */
  details(): Readonly<Record<string, unknown>>;
  /** Opens a trigger. `done` receives the time up to which its ticks are settled; undefined if the trigger is new. */
  open(trigger: string, done: (settledMs: number | undefined) => void): void;
  /** Claims each tick at most once, forever and across engines; a claim is durable before `done` is called. */
  claim(ticks: readonly Tick[], done: (outcome: ClaimOutcome) => void): void;
  /** The trigger was unregistered. */
  release(trigger: string): void;
}

export function storeClaims(store: Store, onFailure: (reason: string) => void): TickClaims {
  const run = (command: string, input: unknown, done: (reply: StoreReply) => void): void =>
    store.run(command, Buffer.from(JSON.stringify(input)), done);
  const note = ({ error }: StoreReply): void => {
    if (error !== undefined) onFailure(error.message);
  };
  return {
    get trouble() {
      return store.trouble;
    },
    async start() {
      run('cron::sweep', {}, note);
    },
    stop() {},
    details: () => store.details,
    open(trigger, done) {
      run('cron::open', { trigger }, (reply) => {
        note(reply);
        const answer = resultOf(reply);
        done(isOpenAnswer(answer) ? (answer.settledMs ?? undefined) : undefined);
      });
    },
    claim(ticks, done) {
      run('cron::claim', { ticks }, (reply) => {
        const answer = resultOf(reply);
        if (isClaimAnswer(answer)) done({ ok: true, won: answer.won });
        else done({ ok: false, reason: reply.error?.message ?? 'The store gave an answer of an unknown shape' });
      });
    },
    release: (trigger) => run('cron::release', { trigger }, note),
  };
}

function resultOf({ result }: StoreReply): unknown {
  return result === undefined ? undefined : JSON.parse(Buffer.from(result).toString('utf8'));
}
