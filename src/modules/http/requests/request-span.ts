// The span of one request, and the context of everything that it causes (modules 5.8).

import { depthOf } from '../../../core/calls/call-depth.ts';
import type { Begun } from '../../../core/telemetry/spans/collector.ts';
import type { Cause } from '../../../router/builtin.ts';
import type { RouterPort } from '../../../router/port.ts';
import { contextOf, kindKey, spanOf } from '../../../router/session/observe.ts';
import type { HttpExchange } from '../../../transport/http.ts';
import type { HttpBinding } from '../trigger.ts';
import { headerOf } from './header-lines.ts';

/** Includes client errors, so that they are found among the errors. */
const ERROR_STATUS_MIN = 400;

export class RequestSpan {
  /**
   * The cause of what follows: the beginning of a chain of calls, or the continuation for a function with a URL (I8).
   */
  readonly cause: Cause;
  readonly #router: Pick<RouterPort, 'observer'>;
  readonly #begun: Begun;
  #status = 0;

  constructor(
    router: Pick<RouterPort, 'observer'>,
    exchange: HttpExchange,
    { operation, functionId, binding }: Pick<HttpBinding, 'operation' | 'functionId' | 'binding'>,
    traceparent: string | undefined,
    scheme: 'http' | 'https',
  ) {
    this.#router = router;
    const baggage = headerOf(exchange.headers, 'baggage');
    // Requests without a route get no trace: a port scan would fill the store.
    const isObserved = binding !== undefined && operation !== '';
    this.#begun = isObserved ? router.observer?.begin('', operation, functionId, '', traceparent, baggage) : undefined;
    this.cause = { depth: depthOf(baggage), traceparent: contextOf(this.#begun, traceparent), baggage };
    this.#describe(exchange, operation, scheme);
  }

  /** `undefined`: its trace is not kept. */
  get traceId(): string | undefined {
    return spanOf(this.#begun)?.traceId;
  }

  /** The answer to the client, as far as it is known. */
  answered(status: number): void {
    this.#status = status;
  }

  end(): void {
    const span = spanOf(this.#begun);
    const { observer } = this.#router;
    if (span === undefined || observer === undefined) return;
    if (this.#status === 0) return observer.end(span);
    span.add('http.response.status_code', String(this.#status));
    if (this.#status < ERROR_STATUS_MIN) observer.end(span);
    else observer.end(span, String(this.#status), `HTTP ${this.#status}`);
  }

  #describe({ method, path, query, headers }: HttpExchange, operation: string, scheme: string): void {
    const span = spanOf(this.#begun);
    const { observer } = this.#router;
    if (span === undefined || observer === undefined) return;
    span.add(kindKey(observer), 'user');
    const host = headerOf(headers, 'host') ?? '';
    span.add('http.request.method', method);
    span.add('http.route', operation.slice(operation.indexOf(' ') + 1));
    span.add('url.path', path);
    span.add('url.query', query);
    span.add('url.scheme', scheme);
    span.add('url.full', `${scheme}://${host}${path}${query === '' ? '' : `?${query}`}`);
    span.add('server.address', host.replace(/:\d+$/, ''));
    span.add('user_agent.original', headerOf(headers, 'user-agent') ?? '');
    span.add('trigger.type', 'http');
  }
}
