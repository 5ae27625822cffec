// One request on its way through the engine: body, place, middleware, condition, handler, answer.
//
// It takes the steps in order (modules 5.7), and gives exactly one answer whatever happens meanwhile.
// Neighbours: `port.ts` found the route; `request-body.ts` and `streamed-answer.ts` are the two channels that a handler
// may take; `checks.ts` calls middleware and condition.
// Invariants:
//   - `#finish` runs once: it frees the place, ends both channels and removes the request.
//   - No function is called for a client that has disconnected.
//   - A handler may answer by its result or by its channel: the first one counts.

import { asRawJson, type ByteString, parseRawJson, RAW_NULL } from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import type { Outcome } from '../../../router/calls/call.ts';
import type { ChannelPipe } from '../../../router/channels/channel-pipe.ts';
import type { OfferedChannel } from '../../../router/channels/channels.ts';
import type { HeaderLines, HttpExchange } from '../../../transport/http.ts';
import type { HttpBinding } from '../trigger.ts';
import { runChecks } from './checks.ts';
import { answerToFailure, type ErrorAnswer, errorAnswer } from './error-answer.ts';
import { LATE, NO_CONTENT, NO_ROOM, NOT_JSON, OVERLOADED, tooLarge } from './flight-answers.ts';
import type { FlightWorld } from './flight-world.ts';
import { ANSWER_PREFIX, BODY_PREFIX } from './flights.ts';
import { type HandlerAnswer, readHandlerPayload } from './handler-result.ts';
import { RequestBody } from './request-body.ts';
import { RequestSpan } from './request-span.ts';
import { StreamedAnswer } from './streamed-answer.ts';

export interface FlightFacts {
  readonly exchange: HttpExchange;
  readonly target: HttpBinding;
  /** The request object up to its body. */
  readonly text: ByteString;
  readonly traceparent: string | undefined;
  readonly hasJson: boolean;
  /** Sent with every answer. */
  readonly headers: HeaderLines;
  readonly startedMs: number;
}

/** For writers that connect while the handler's result is on its way: they do not wait for their connection first. */
const LATE_WRITER_MS = 500;

export class Flight {
  readonly #world: FlightWorld;
  readonly #facts: FlightFacts;
  /** Its index among all flights, which the ids of its channels contain. */
  readonly #slot: number;
  readonly #deadlineMs: number;
  readonly #span: RequestSpan;
  #isOver = false;
  #hasPlace = false;
  #cancelWait: (() => void) | undefined;
  #body: RequestBody | undefined;
  #bodyText: ByteString = RAW_NULL;
  #bodyKey = '';
  #answerKey = '';
  #stream: StreamedAnswer | undefined;
  /** The handler is done and left the answer to its channel, which must begin by this time. */
  #awaitsStreamUntilMs: number | undefined;

  constructor(world: FlightWorld, facts: FlightFacts) {
    this.#world = world;
    this.#facts = facts;
    this.#deadlineMs = facts.startedMs + world.config.default_timeout;
    this.#slot = world.flights.enter(this);
    this.#span = new RequestSpan(world.router, facts.exchange, facts.target, facts.traceparent);
  }

  start(): void {
    const { exchange, hasJson } = this.#facts;
    exchange.whenGone(() => this.#finish());
    if (exchange.bodyBytes === 0) return this.#enter();
    const { body_limit: bytesMax } = this.#world.config;
    if ((exchange.bodyBytes ?? 0) > bytesMax) return this.fail(tooLarge(bytesMax));
    this.#body = new RequestBody({
      exchange,
      bytesMax,
      budget: this.#world.bodyBudget,
      isKept: hasJson,
      complete: () => {
        if (hasJson) this.#readJson();
      },
      failed: (why) => this.fail(why === 'too_large' ? tooLarge(bytesMax) : NO_ROOM),
    });
    exchange.readBody(this.#body);
    if (!hasJson) this.#enter();
  }

  /** A channel of this request that a client wants to take, if it is still available. */
  offer(end: 'body' | 'answer'): OfferedChannel | undefined {
    if (this.#bodyKey === '' || this.#isOver) return undefined;
    const share = this.#facts.target.binding?.owner?.access?.channelShare;
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
    const { exchange, headers, target } = this.#facts;
    this.#span.answered(answer.status);
    this.#finish();
    this.#world.answerError(exchange, answer, headers, target.functionId);
  }

  /** The answer of a handler, or of a middleware in its place. */
  answer({ status, headers, body }: HandlerAnswer): void {
    if (this.#isOver) return;
    const { exchange, headers: own } = this.#facts;
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

  /** Takes a place among the requests that are handled, or waits for one. */
  #enter(): void {
    const { inFlight, clock } = this.#world;
    if (inFlight.tryEnter()) return this.#admitted();
    this.#cancelWait = inFlight.wait(
      { admitted: () => this.#admitted(), expired: () => this.fail(OVERLOADED) },
      clock.monotonicMs(),
    );
    if (this.#cancelWait === undefined) this.fail(OVERLOADED);
  }

  #admitted(): void {
    this.#cancelWait = undefined;
    if (this.#isOver) return this.#world.inFlight.leave();
    this.#hasPlace = true;
    const { target, text } = this.#facts;
    const { globalMiddleware } = this.#world;
    const hasCondition = target.binding?.conditionFunctionId !== undefined;
    const isGuarded = target.binding !== undefined && globalMiddleware.length > 0;
    if (!isGuarded && !hasCondition && target.middleware.length === 0) return this.#call('{}');
    runChecks(
      this.#world,
      {
        text,
        body: this.#bodyText,
        before: isGuarded ? globalMiddleware : [],
        behind: target.middleware,
        binding: target.binding,
        cause: this.#span.cause,
        isOver: () => this.#isOver,
      },
      {
        passed: (context) => this.#call(context),
        answered: (answer) => this.answer(answer),
        failed: (answer) => this.fail(answer),
      },
    );
  }

  #call(context: string): void {
    const world = this.#world;
    const facts = this.#facts;
    const timeoutMs = this.#deadlineMs - world.clock.monotonicMs();
    if (timeoutMs < 1) return this.fail(LATE);
    const { binding, functionId } = facts.target;
    this.#bodyKey = world.random.token();
    this.#answerKey = world.random.token();
    if (binding !== undefined) {
      binding.lastFiredAtMs = world.clock.nowMs();
      binding.error = undefined;
    }
    const name = world.flights.nameOf(this.#slot);
    const text =
      `${facts.text},"body":${this.#bodyText},"request_body":{"channel_id":"${BODY_PREFIX}${name}","access_key":"` +
      `${this.#bodyKey}","direction":"read"},"response":{"channel_id":"${ANSWER_PREFIX}${name}","access_key":"` +
      `${this.#answerKey}","direction":"write"},"context":${context}}`;
    world.router.call(
      {
        functionId,
        payload: Payload.ofText(asRawJson(text)),
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
    if (this.#isOver) return;
    if (error !== undefined) return this.#failed(error);
    if (this.#stream?.hasBegun) return;
    if (result === undefined) return this.#returnedNothing(true);
    const read = readHandlerPayload(result, this.#world.isDropIn);
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
    const nowMs = this.#world.clock.monotonicMs();
    if (this.#stream !== undefined) {
      this.#awaitsStreamUntilMs = this.#deadlineMs;
    } else if (isAbsent && this.#facts.target.binding?.owner?.isOwnSdk !== true) {
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
    const text = `The result of ${this.#facts.target.functionId} is not an HTTP response: ${reason}`;
    this.fail(errorAnswer('BAD_HANDLER_RESPONSE', text));
  }

  #offerBody(pipe: ChannelPipe): void {
    const { exchange } = this.#facts;
    this.#body ??= new RequestBody({
      exchange,
      bytesMax: 0,
      budget: this.#world.bodyBudget,
      isKept: false,
      complete: () => {},
      failed: () => {},
    });
    this.#body.handTo(pipe);
  }

  #offerAnswer(pipe: ChannelPipe): void {
    const { exchange, headers } = this.#facts;
    if (this.#awaitsStreamUntilMs !== undefined) this.#awaitsStreamUntilMs = this.#deadlineMs;
    this.#stream = new StreamedAnswer({
      exchange,
      headers: (own) => [...own, ...headers],
      nowMs: () => this.#world.clock.monotonicMs(),
      begun: () => {
        this.#awaitsStreamUntilMs = undefined;
        // It may take long: other requests must not wait for it.
        this.#leavePlace();
      },
      over: () => this.#finish(),
      failed: (why, detail) => {
        if (why === 'bad_header') this.#badResult(detail);
        else this.fail(errorAnswer('invocation_stopped', `The answer of ${this.#facts.target.functionId} broke off`));
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
    this.#world.flights.leave(this.#slot);
    this.#leavePlace();
  }

  #leavePlace(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#world.inFlight.leave();
  }
}
