// One request on its way through the engine: body, turn, middleware, condition, handler, answer.
//
// It takes the steps in order (modules 5.7), and gives exactly one answer whatever happens meanwhile.
// Neighbours: `port.ts` found the route; `request-body.ts` and `streamed-answer.ts` are the two channels that a handler
// may take; `checks.ts` calls middleware and condition.
// Invariants:
//   - `#finish` runs once: it ends both channels and removes the request.
//   - No function is called for a client that has disconnected. The turn of its request ends when the function that
//     runs for it ends: a client that reconnects must not make more functions run than the limit allows.
//   - A handler may answer by its result or by its channel: the first one counts.

import type { ByteBudget } from '../../../core/limits/byte-budget.ts';
import type { Clock } from '../../../effects/clock.ts';
import type { Random } from '../../../effects/random.ts';
import { RequestRecord } from '../../../protocol/http/request-record.ts';
import { type RequestHead, requestText } from '../../../protocol/http/request-text.ts';
import { type ByteString, parseRawJson, RAW_NULL } from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import type { Outcome } from '../../../router/calls/call.ts';
import type { ChannelPipe } from '../../../router/channels/channel-pipe.ts';
import type { OfferedChannel } from '../../../router/channels/channels.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { HeaderLines, HttpExchange } from '../../../transport/http.ts';
import type { HttpConfig } from '../config.ts';
import type { HttpBinding } from '../trigger.ts';
import { runChecks } from './checks.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import {
  answerToFailure,
  BODIES_TOO_LARGE,
  type ErrorAnswer,
  errorAnswer,
  LATE,
  NOT_JSON,
  OVERLOADED,
  tooLarge,
} from './error-answer.ts';
import { type HandlerAnswer, NO_CONTENT, readHandlerPayload } from './handler-result.ts';
import type { OpenRequest, OpenRequests } from './open-requests.ts';
import { RequestBody } from './request-body.ts';
import { RequestSpan } from './request-span.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** What the requests of one port share. */
export interface PortContext {
  readonly config: HttpConfig;
  readonly isDropIn: boolean;
  readonly router: RouterPort;
  readonly clock: Clock;
  readonly random: Random;
  readonly concurrency: ConcurrencyLimit;
  /** The same for routes of restricted connections, which must not use up the turns of the others. */
  readonly restrictedConcurrency: ConcurrencyLimit;
  readonly bodyBudget: ByteBudget;
  readonly openRequests: OpenRequests;
  /** Function ids in the order in which they are called. */
  readonly globalMiddleware: readonly string[];
  /** `cause`: for the log. */
  answerError(exchange: HttpExchange, answer: ErrorAnswer, headers: HeaderLines, cause?: ErrorCause): void;
}

/** The function that was to answer, and the trace of its request if that is kept. */
export interface ErrorCause {
  readonly functionId: string;
  readonly traceId: string | undefined;
}

export interface RoutedRequest {
  readonly exchange: HttpExchange;
  readonly target: HttpBinding;
  readonly head: RequestHead;
  readonly traceparent: string | undefined;
  readonly hasJson: boolean;
  /** Sent with every answer. */
  readonly headers: HeaderLines;
  readonly startedMs: number;
}

/** For writers that connect while the handler's result is on its way: they do not wait for their connection first. */
const LATE_WRITER_MS = 500;

export class HttpRequest implements OpenRequest {
  readonly #port: PortContext;
  readonly #routed: RoutedRequest;
  readonly #concurrency: ConcurrencyLimit;
  /** Its index among all open requests, which the ids of its channels contain. */
  readonly #slot: number;
  readonly #deadlineMs: number;
  readonly #span: RequestSpan;
  #isOver = false;
  #holdsTurn = false;
  /** A function that was called for it has not ended. */
  #isRunning = false;
  #cancelWait: (() => void) | undefined;
  #body: RequestBody | undefined;
  #bodyText: ByteString = RAW_NULL;
  #bodyKey = '';
  #answerKey = '';
  #stream: StreamedAnswer | undefined;
  /** The handler is done and left the answer to its channel, which must begin by this time. */
  #awaitsStreamUntilMs: number | undefined;

  constructor(port: PortContext, routed: RoutedRequest) {
    this.#port = port;
    this.#routed = routed;
    const isOfRestricted = routed.target.binding?.owner?.access !== undefined;
    this.#concurrency = isOfRestricted ? port.restrictedConcurrency : port.concurrency;
    this.#deadlineMs = routed.startedMs + port.config.default_timeout;
    this.#slot = port.openRequests.enter(this);
    const scheme = port.config.tls === undefined ? 'http' : 'https';
    this.#span = new RequestSpan(port.router, routed.exchange, routed.target, routed.traceparent, scheme);
  }

  start(): void {
    const { exchange, hasJson } = this.#routed;
    exchange.whenGone(() => this.#finish());
    if (exchange.bodyBytes === 0) return this.#enter();
    const { body_limit: bytesMax } = this.#port.config;
    if ((exchange.bodyBytes ?? 0) > bytesMax) return this.fail(tooLarge(bytesMax));
    this.#body = new RequestBody({
      exchange,
      bytesMax,
      budget: this.#port.bodyBudget,
      isKept: hasJson,
      complete: () => {
        if (hasJson) this.#readJson();
      },
      failed: (why) => this.fail(why === 'too_large' ? tooLarge(bytesMax) : BODIES_TOO_LARGE),
    });
    exchange.readBody(this.#body);
    if (!hasJson) this.#enter();
  }

  /** A channel of this request that a client wants to take, if it is still available. */
  offer(end: 'body' | 'answer'): OfferedChannel | undefined {
    if (this.#bodyKey === '' || this.#isOver) return undefined;
    const share = this.#routed.target.binding?.owner?.access?.channelShare;
    return end === 'body'
      ? { key: this.#bodyKey, share, accepted: (pipe) => this.#offerBody(pipe) }
      : { key: this.#answerKey, share, accepted: (pipe) => this.#offerAnswer(pipe) };
  }

  /** Called periodically: ends what nothing else ends in time. */
  check(nowMs: number): void {
    this.#body?.keepWaiting();
    if (this.#awaitsStreamUntilMs !== undefined && nowMs >= this.#awaitsStreamUntilMs) this.#missedStream();
    else this.#stream?.checkIdle(nowMs);
  }

  /** Answers with an error of the engine. */
  fail(answer: ErrorAnswer): void {
    if (this.#isOver) return;
    const { exchange, headers, target } = this.#routed;
    this.#span.answered(answer.status);
    this.#finish();
    this.#port.answerError(exchange, answer, headers, { functionId: target.functionId, traceId: this.#span.traceId });
  }

  /** The answer of a handler, or of a middleware in its place. */
  answer({ status, headers, body }: HandlerAnswer): void {
    if (this.#isOver) return;
    const { exchange, headers: own } = this.#routed;
    this.#span.answered(status);
    this.#finish();
    exchange.answer(status, own.length === 0 ? headers : headers.concat(own), body);
  }

  #readJson(): void {
    const whole = this.#body?.whole() ?? Buffer.alloc(0);
    const text = whole.length === 0 ? RAW_NULL : Payload.ofBytes(whole, 0, whole.length).asText();
    if (text === undefined) return this.fail(NOT_JSON);
    this.#bodyText = text;
    this.#enter();
  }

  /** Takes its turn among the requests that are handled, or waits for it. */
  #enter(): void {
    const { clock } = this.#port;
    const concurrency = this.#concurrency;
    if (concurrency.tryEnter()) return this.#admitted();
    this.#cancelWait = concurrency.wait(
      { admitted: () => this.#admitted(), expired: () => this.fail(OVERLOADED) },
      clock.monotonicMs(),
    );
    if (this.#cancelWait === undefined) this.fail(OVERLOADED);
  }

  #admitted(): void {
    this.#cancelWait = undefined;
    if (this.#isOver) return this.#concurrency.leave();
    this.#holdsTurn = true;
    const { target, head } = this.#routed;
    const { globalMiddleware } = this.#port;
    const hasCondition = target.binding?.conditionFunctionId !== undefined;
    const hasGlobalMiddleware = target.binding !== undefined && globalMiddleware.length > 0;
    if (!hasGlobalMiddleware && !hasCondition && target.middleware.length === 0) return this.#call('');
    this.#isRunning = true;
    runChecks(
      this.#port.router,
      {
        text: requestText(head),
        body: this.#bodyText,
        globalMiddleware: hasGlobalMiddleware ? globalMiddleware : [],
        routeMiddleware: target.middleware,
        binding: target.binding,
        cause: this.#span.cause,
        isOver: () => this.#isOver,
      },
      {
        passed: (context) => {
          if (this.#hasRun()) this.#call(context);
        },
        answered: (answer) => {
          if (this.#hasRun()) this.answer(answer);
        },
        failed: (answer) => {
          if (this.#hasRun()) this.fail(answer);
        },
        gone: () => void this.#hasRun(),
      },
    );
  }

  /** The function that ran for it has ended. Returns whether a client still waits. */
  #hasRun(): boolean {
    this.#isRunning = false;
    if (this.#isOver) this.#endTurn();
    return !this.#isOver;
  }

  /** `context`: what middleware returned, JSON; empty: nothing. */
  #call(context: ByteString | ''): void {
    const port = this.#port;
    const routed = this.#routed;
    const timeoutMs = this.#deadlineMs - port.clock.monotonicMs();
    if (timeoutMs < 1) return this.fail(LATE);
    const { binding, functionId } = routed.target;
    this.#bodyKey = port.random.key();
    this.#answerKey = port.random.key();
    if (binding !== undefined) {
      binding.lastFiredAtMs = port.clock.nowMs();
      binding.error = undefined;
    }
    const record = new RequestRecord(routed.head, this.#bodyText, context, {
      name: port.openRequests.nameOf(this.#slot),
      suffix: port.openRequests.suffix,
      bodyKey: this.#bodyKey,
      answerKey: this.#answerKey,
    });
    // The route of a request without a binding occurs once, and no connection needs to know it.
    const isRecord = binding !== undefined && record.isExpressible;
    this.#isRunning = true;
    port.router.call(
      {
        functionId,
        payload: isRecord ? Payload.ofWritten(record) : Payload.ofText(record.asText()),
        metadata: binding?.metadata && Payload.ofText(binding.metadata),
        ...this.#span.cause,
        isFromOutside: true,
        timeoutMs: Math.ceil(timeoutMs),
        binding,
        // What answers where there is no route is the configuration's own: it sees requests with their credentials.
        decides: binding === undefined,
      },
      (outcome) => this.#settled(outcome),
    );
  }

  #settled({ result, error }: Outcome): void {
    if (!this.#hasRun()) return;
    if (error !== undefined) return this.#failed(error);
    if (this.#stream?.hasBegun) return;
    if (result === undefined) return this.#returnedNothing(true);
    const read = readHandlerPayload(result, this.#port.isDropIn);
    if (read === undefined) this.#returnedNothing(false);
    else if (read.ok) this.answer(read.answer);
    else this.#badResult(read.reason);
  }

  /** A stream that has begun continues after a handler that took longer than its timeout. */
  #failed(error: Payload): void {
    const answer = answerToFailure(parseRawJson(error.asText() ?? RAW_NULL));
    if (!this.#stream?.hasBegun) return this.fail(answer);
    if (answer.code !== 'TIMEOUT') this.#stream.breakOff();
  }

  #returnedNothing(isAbsent: boolean): void {
    const nowMs = this.#port.clock.monotonicMs();
    if (this.#stream !== undefined) {
      this.#awaitsStreamUntilMs = this.#deadlineMs;
    } else if (isAbsent && this.#routed.target.binding?.owner?.isOwnSdk !== true) {
      this.#awaitsStreamUntilMs = Math.min(nowMs + LATE_WRITER_MS, this.#deadlineMs);
    } else {
      this.answer(NO_CONTENT);
    }
  }

  #missedStream(): void {
    this.#awaitsStreamUntilMs = undefined;
    if (this.#stream === undefined) this.answer(NO_CONTENT);
    else if (!this.#stream.hasBegun) this.fail(LATE);
  }

  #badResult(reason: string): void {
    const text = `The result of ${this.#routed.target.functionId} is not an HTTP response: ${reason}`;
    this.fail(errorAnswer('BAD_HANDLER_RESPONSE', text));
  }

  #offerBody(pipe: ChannelPipe): void {
    const { exchange } = this.#routed;
    this.#body ??= new RequestBody({
      exchange,
      bytesMax: 0,
      budget: this.#port.bodyBudget,
      isKept: false,
      complete: () => {},
      failed: () => {},
    });
    this.#body.handTo(pipe);
  }

  #offerAnswer(pipe: ChannelPipe): void {
    const { exchange, headers } = this.#routed;
    if (this.#awaitsStreamUntilMs !== undefined) this.#awaitsStreamUntilMs = this.#deadlineMs;
    this.#stream = new StreamedAnswer({
      exchange,
      headers: (own) => [...own, ...headers],
      nowMs: () => this.#port.clock.monotonicMs(),
      begun: () => {
        this.#awaitsStreamUntilMs = undefined;
        // It may take long: other requests must not wait for it.
        this.#endTurn();
      },
      over: () => this.#finish(),
      failed: (why, detail) => {
        if (why === 'bad_header') this.#badResult(detail);
        else this.fail(errorAnswer('invocation_stopped', `The answer of ${this.#routed.target.functionId} broke off`));
      },
    });
    this.#stream.takeFrom(pipe);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#span.end();
    this.#cancelWait?.();
    this.#body?.release();
    this.#stream?.leave();
    this.#port.openRequests.leave(this.#slot);
    if (!this.#isRunning) this.#endTurn();
  }

  #endTurn(): void {
    if (!this.#holdsTurn) return;
    this.#holdsTurn = false;
    this.#concurrency.leave();
  }
}
