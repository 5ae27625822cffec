// Reports a missing connection: to the log at a limited rate, and to waiting callers as an error with the reason.

import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import { SvcError } from '../calls/errors.ts';
import { OncePerMinute } from '../worker/once-per-minute.ts';
import type { Settings } from '../worker/options.ts';
import type { PlatformClock, SocketClosure } from '../worker/platform.ts';

export class ConnectionTroubles {
  readonly #settings: Settings;
  readonly #lines: OncePerMinute;
  readonly #unreadable: OncePerMinute;
  /** Whether the last logged line says that there is no connection. */
  #hasComplained = false;

  constructor(settings: Settings, clock: PlatformClock) {
    this.#settings = settings;
    this.#lines = new OncePerMinute(clock);
    this.#unreadable = new OncePerMinute(clock);
  }

  /** The address without its secrets. */
  get #address(): string {
    return withoutSecrets(this.#settings.url);
  }

  /** Explains the end of a connection or of a dial, and logs it if a line is due. UNREACHABLE unless it was refused. */
  explain(wasUp: boolean, { code, reason, httpStatus }: SocketClosure): SvcError {
    const refusal = httpStatus === undefined ? undefined : REFUSALS.get(httpStatus);
    const error =
      refusal === undefined
        ? new SvcError('UNREACHABLE', wasUp ? this.#describeLoss(code, reason) : this.#describeFailure(reason))
        : new SvcError(refusal, `the engine at ${this.#address} refused this worker: ${httpStatus} ${reason}`);
    const next = this.#settings.reconnects ? '; trying again' : '';
    this.#lines.write((more) => {
      this.#hasComplained = true;
      const others = more > 0 ? ` (${more} more since the last line)` : '';
      this.#settings.log(refusal === undefined ? 'warn' : 'error', `${error.message}${next}${others}`);
    });
    return error;
  }

  /** The connection is up; this corrects the last logged line. */
  connected(): void {
    if (this.#hasComplained) this.#settings.log('info', `connected to the engine at ${this.#address}`);
    this.#hasComplained = false;
  }

  /** The connection lasted: its loss is logged at once, even if the last line is recent. */
  lasted(): void {
    this.#lines.reset();
  }

  /** A message of the engine was dropped. */
  unreadable(problem: string): void {
    this.#unreadable.write((more) => {
      const what = more > 0 ? `${more + 1} messages of the engine, the last` : 'a message of the engine';
      this.#settings.log('warn', `dropped ${what}: ${problem}`);
    });
  }

  #describeFailure(reason: string): string {
    return `cannot reach the engine at ${this.#address} (${reason})`;
  }

  #describeLoss(code: number, reason: string): string {
    const why = [CLOSE_TEXTS.get(code), reason, `code ${code}`].filter(Boolean);
    return `lost the connection to the engine at ${this.#address} (${why.join(', ')})`;
  }
}

/** HTTP answers to the upgrade that waiting does not change. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
]);

const CLOSE_TEXTS: ReadonlyMap<number, string> = new Map<number, string>([
  [CLOSE_CODES.goingAway, 'the engine is going away'],
  [CLOSE_CODES.protocolError, 'an invalid frame'],
  [CLOSE_CODES.messageTooBig, 'a message was too large'],
  [CLOSE_CODES.replaced, 'a newer connection of this worker took over'],
  [CLOSE_CODES.tooSlow, 'this worker reads too slowly'],
]);

/** An address may hold a password or a token in the query; logs and errors must not show them. */
function withoutSecrets(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
