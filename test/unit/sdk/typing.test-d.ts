// [SDK-1] What compiles and what must not. Checked by `tsc`, never run: a line that stops failing is an unused
// `@ts-expect-error`, which is an error too.

import {
  cron,
  Enqueue,
  type EnqueueReceipt,
  type FunctionReference,
  type HandlerContext,
  type HttpRequest,
  http,
  onQueue,
  ops,
  registerWorker,
  type StandardSchema,
  Void,
} from '../../../src/sdk/index.ts';

declare module '../../../src/sdk/index.ts' {
  interface Functions {
    'typing::create': { in: { sku: string }; out: { id: string } };
    'typing::now': { in: undefined; out: number };
  }
  interface TriggerConfigs {
    'typing:own': { readonly every: number };
  }
}

/** Compiles only if both types are the same, `any` included. */
function expectType<Wanted>() {
  return <Given>(_value: Given, ..._same: Same<Wanted, Given> extends true ? [] : [never]): void => {};
}
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
// biome-ignore lint/suspicious/noExplicitAny: what untyped calls return.
type Anything = any;

export async function untyped(id: string): Promise<void> {
  const svc = registerWorker();
  expectType<Anything>()(await svc.trigger({ function_id: 'unknown::function', payload: { any: ['thing'] } }));
  expectType<Anything>()(await svc.trigger({ function_id: id }));
  expectType<EnqueueReceipt>()(await svc.trigger({ function_id: id, action: Enqueue({ queue: 'q' }) }));
  expectType<undefined>()(await svc.trigger({ function_id: id, payload: 1, action: Void() }));
  svc.registerFunction('unknown::function', (order) => order.sku);
  svc.registerFunction({ id, description: 'x' }, async (order, context) => {
    expectType<Anything>()(order);
    expectType<HandlerContext>()(context);
  });
  // @ts-expect-error: an option that does not exist
  await svc.trigger({ function_id: 'unknown::function', timeout: 5 });
  // @ts-expect-error: no target
  await svc.trigger({ payload: 5 });
  // @ts-expect-error: a queue must be named
  Enqueue({ idempotency_key: 'k' });
}

export async function explicit(): Promise<void> {
  const svc = registerWorker();
  const request = { function_id: 'math::add', payload: { x: 1 } };
  expectType<number>()(await svc.trigger<{ x: number }, number>(request));
  expectType<Anything>()(await svc.trigger<{ x: number }, Anything>(request));
  expectType<unknown>()(await svc.trigger<{ x: number }, unknown>(request));
  expectType<undefined>()(await svc.trigger<{ x: number }, number>({ ...request, action: Void() }));
  expectType<EnqueueReceipt>()(
    await svc.trigger<{ x: number }, number>({ ...request, action: Enqueue({ queue: 'q' }) }),
  );
  // @ts-expect-error: the payload does not fit
  await svc.trigger<{ x: number }, number>({ function_id: 'math::add', payload: { x: '1' } });
  // @ts-expect-error: the payload is missing
  await svc.trigger<{ x: number }, number>({ function_id: 'math::add' });
  const add = svc.registerFunction<{ x: number }, number>('math::add', ({ x }) => x);
  expectType<number>()(await add.trigger({ x: 1 }));
}

export async function references(): Promise<void> {
  const svc = registerWorker();
  const create = svc.registerFunction('ref::create', async (order: { sku: string }) => ({ id: order.sku }));
  expectType<{ id: string }>()(await create.trigger({ sku: 'a' }));
  expectType<{ id: string }>()(await svc.trigger({ function_id: create, payload: { sku: 'a' } }));
  expectType<EnqueueReceipt>()(await create.trigger({ sku: 'a' }, { action: Enqueue({ queue: 'q' }) }));
  expectType<undefined>()(await create.trigger({ sku: 'a' }, { action: Void() }));
  expectType<EnqueueReceipt>()(
    await svc.trigger({ function_id: create, payload: { sku: 'a' }, action: Enqueue({ queue: 'q' }) }),
  );
  // @ts-expect-error: the payload does not fit
  await create.trigger({ sku: 1 });
  // @ts-expect-error: the payload is missing
  await create.trigger();
  // @ts-expect-error: the payload does not fit
  await svc.trigger({ function_id: create, payload: { sku: 1 } });
  // @ts-expect-error: the payload is missing
  await svc.trigger({ function_id: create });
  // @ts-expect-error: the payload does not fit, in a queue neither
  await svc.trigger({ function_id: create, payload: { sku: 1 }, action: Enqueue({ queue: 'q' }) });
  const now = svc.registerFunction('ref::now', (_: undefined) => 5);
  expectType<number>()(await now.trigger());
  const byHand: FunctionReference<number, string> = { id: 'x' };
  expectType<string>()(await svc.trigger({ function_id: byHand, payload: 1 }));
  svc.registerTrigger({ type: 'cron', function_id: create, config: { expression: '* * * * *' } });
}

export async function registry(): Promise<void> {
  const svc = registerWorker();
  expectType<{ id: string }>()(await svc.trigger({ function_id: 'typing::create', payload: { sku: 'a' } }));
  expectType<number>()(await svc.trigger({ function_id: 'typing::now' }));
  expectType<undefined>()(await svc.trigger({ function_id: 'typing::create', payload: { sku: 'a' }, action: Void() }));
  expectType<EnqueueReceipt>()(
    await svc.trigger({ function_id: 'typing::create', payload: { sku: 'a' }, action: Enqueue({ queue: 'q' }) }),
  );
  // @ts-expect-error: the payload does not fit
  await svc.trigger({ function_id: 'typing::create', payload: { sku: 1 } });
  // @ts-expect-error: the payload is missing
  await svc.trigger({ function_id: 'typing::create' });
  // @ts-expect-error: the payload does not fit, in a queue neither
  await svc.trigger({ function_id: 'typing::create', payload: {}, action: Enqueue({ queue: 'q' }) });
  const create = svc.registerFunction('typing::create', (order) => {
    expectType<{ sku: string }>()(order);
    return { id: order.sku };
  });
  expectType<{ id: string }>()(await create.trigger({ sku: 'a' }));
  // @ts-expect-error: the result does not fit
  svc.registerFunction('typing::create', (order) => ({ id: order.sku.length }));
  // @ts-expect-error: the payload does not fit
  svc.registerFunction({ id: 'typing::create' }, (order: { amount: number }) => ({ id: `${order.amount}` }));
}

declare const orderIn: StandardSchema<{ sku: string; amount?: number }, { sku: string; amount: number }>;
declare const orderOut: StandardSchema<{ at: Date }, { at: string }>;

export async function schemas(): Promise<void> {
  const svc = registerWorker();
  const create = svc.registerFunction({ id: 'schema::create', input: orderIn, output: orderOut }, async (order) => {
    expectType<{ sku: string; amount: number }>()(order);
    return { at: new Date() };
  });
  expectType<{ at: string }>()(await create.trigger({ sku: 'a' }));
  const half = svc.registerFunction({ id: 'schema::half', input: orderIn }, (order) => order.amount);
  expectType<number>()(await half.trigger({ sku: 'a' }));
  // @ts-expect-error: the payload does not fit what the schema takes
  await create.trigger({ sku: 1 });
  // @ts-expect-error: the result does not fit what the output schema takes
  svc.registerFunction({ id: 'schema::bad', input: orderIn, output: orderOut }, () => ({ at: 5 }));
  const timed = svc.registerFunction({ id: 'schema::timed', output: orderOut }, (n: number) => ({ at: new Date(n) }));
  expectType<{ at: string }>()(await timed.trigger(1));
  // @ts-expect-error: the result does not fit what the output schema takes
  svc.registerFunction({ id: 'schema::timed', output: orderOut }, () => ({ at: 5 }));
  const plain = svc.registerFunction(
    { id: 'schema::plain', input: { type: 'object' }, output: { type: 'number' } },
    (order: { n: number }) => order.n,
  );
  expectType<number>()(await plain.trigger({ n: 1 }));
}

export async function helpers(): Promise<void> {
  const svc = registerWorker();
  svc.registerTrigger({ ...cron('@daily', { queue: 'reports' }), function_id: 'reports::build' });
  const group = svc.stream('s').group<{ n: number }>('g');
  const { new_value } = await group.update('i', [ops.increment('n')]);
  expectType<{ n: number } | null>()(new_value);
  // @ts-expect-error: no such operation
  await group.update('i', [{ type: 'double', path: 'n' }]);
}

/** A message with its place: the wrong property, not the schema. */
export function misfits(): void {
  const svc = registerWorker();
  svc.registerFunction({ id: 'misfit::out', input: orderIn, output: orderOut }, (order) => ({
    // @ts-expect-error: the result does not fit here
    at: order.sku,
  }));
  const definition = { id: 'misfit::later', input: orderIn, output: orderOut };
  svc.registerFunction(
    definition,
    // @ts-expect-error: of a promise, the compiler names the whole handler
    async (order) => ({ at: order.sku }),
  );
  svc.registerFunction('typing::create', (order) => ({
    // @ts-expect-error: the result does not fit here
    id: order.sku.length,
  }));
}

export async function shortForms(): Promise<void> {
  const svc = registerWorker();
  expectType<{ id: string }>()(await svc.trigger('typing::create', { sku: 'a' }));
  expectType<number>()(await svc.trigger('typing::now'));
  expectType<Anything>()(await svc.trigger('unknown::function', { any: 1 }));
  expectType<EnqueueReceipt>()(await svc.trigger('typing::create', { sku: 'a' }, { action: Enqueue({ queue: 'q' }) }));
  expectType<number>()(await svc.trigger<{ x: number }, number>('math::add', { x: 1 }));
  const create = svc.registerFunction('short::create', (order: { sku: string }) => ({ id: order.sku }));
  expectType<{ id: string }>()(await svc.trigger(create, { sku: 'a' }, { timeoutMs: 5 }));
  expectType<{ id: string }>()(await svc.trigger({ functionId: create, payload: { sku: 'a' } }));
  // @ts-expect-error: the payload does not fit
  await svc.trigger('typing::create', { sku: 1 });
  // @ts-expect-error: the payload is missing
  await svc.trigger('typing::create');
  // @ts-expect-error: both names of the target
  await svc.trigger({ functionId: 'a', function_id: 'a' });
  const typed = svc.registerFunction('short::typed', { input: orderIn, output: orderOut }, (order) => {
    expectType<{ sku: string; amount: number }>()(order);
    return { at: new Date() };
  });
  expectType<{ at: string }>()(await typed.trigger({ sku: 'a' }));
  // @ts-expect-error: an option that does not exist
  svc.registerFunction('short::typo', { descripton: 'x' }, () => 1);
}

export function triggers(type: string): void {
  const svc = registerWorker();
  const onRequest = svc.registerFunction('trigger::request', ({ body }: HttpRequest<{ sku: string }>) => body.sku);
  const onOrder = svc.registerFunction('trigger::order', (order: { sku: string }) => order.sku);
  svc.registerTrigger({ ...http('POST', '/orders'), function_id: onRequest });
  svc.registerTrigger({ ...http('POST', '/orders'), functionId: 'any::id' });
  svc.registerTrigger({ ...onQueue('orders'), function_id: onOrder });
  svc.registerTrigger({ type, function_id: onOrder, config: { anything: true } });
  svc.registerTrigger({ type: 'typing:own', function_id: onOrder, config: { every: 5 } });
  // @ts-expect-error: the handler does not take a request
  svc.registerTrigger({ ...http('POST', '/orders'), function_id: onOrder });
  // @ts-expect-error: no such trigger type
  svc.registerTrigger({ type: 'htttp', function_id: onOrder });
  // @ts-expect-error: the config of the declared type
  svc.registerTrigger({ type: 'typing:own', function_id: onOrder, config: { every: 'day' } });
  svc.registerFunction('trigger::create', { trigger: http('POST', '/orders') }, (request: HttpRequest) => request.url);
  svc.registerFunction('trigger::any', { trigger: [cron('@daily'), http('GET', '/')] }, () => 1);
  // @ts-expect-error: the handler does not take a request
  svc.registerFunction('trigger::bad', { trigger: http('POST', '/o') }, (order: { sku: string }) => order.sku);
  // @ts-expect-error: no such trigger type
  svc.registerFunction('trigger::typo', { trigger: { type: 'crn', config: {} } }, () => 1);
}
