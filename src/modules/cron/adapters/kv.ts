// Claims in a local store.

import { isClaimAnswer, isOpenAnswer } from '../../../generated/cron-payloads.ts';
import type { Store, StoreReply } from '../../../store/thread/contract.ts';
import type { TickClaims } from '../claims.ts';

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
    facts: () => store.facts,
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
