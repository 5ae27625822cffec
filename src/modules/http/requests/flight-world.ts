// What the requests of one port share.

import type { ByteBudget } from '../../../core/limits/byte-budget.ts';
import type { Clock } from '../../../effects/clock.ts';
import type { Random } from '../../../effects/random.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { HeaderLines, HttpExchange } from '../../../transport/http.ts';
import type { HttpConfig } from '../config.ts';
import type { ErrorAnswer } from './error-answer.ts';
import type { Flights } from './flights.ts';
import type { RequestsInFlight } from './requests-in-flight.ts';

export interface FlightWorld {
  readonly config: HttpConfig;
  readonly isDropIn: boolean;
  readonly router: RouterPort;
  readonly clock: Clock;
  readonly random: Random;
  readonly inFlight: RequestsInFlight;
  readonly bodyBudget: ByteBudget;
  readonly flights: Flights;
  /** Function ids in the order in which they are called. */
  readonly globalMiddleware: readonly string[];
  /** `functionId`: for the log. */
  answerError(exchange: HttpExchange, answer: ErrorAnswer, headers: HeaderLines, functionId?: string): void;
}
