// How a trigger of each kind is bound, for views without triggers (console rule 3).

import type { Kind } from './logic/trigger-kinds.ts';

function binding(type: string, functionId: string, config: string): string {
  return `svc.registerTrigger({
  type: '${type}',
  function_id: '${functionId}',
  config: { ${config} },
})`;
}

const HTTP = binding('http', 'orders::create', "api_path: '/orders', http_method: 'POST'");

export const BIND_SNIPPETS: Readonly<Record<Kind, string>> = {
  all: HTTP,
  http: HTTP,
  cron: binding('cron', 'stock::nightly', "expression: '0 0 3 * * *', timezone: 'Europe/Berlin'"),
  queue: binding('durable:subscriber', 'mail::send', "topic: 'mail'"),
  event: binding('event', 'users::welcome', "topic: 'user.created'"),
  state: binding('state', 'orders::changed', "scope: 'orders'"),
  stream: binding('stream', 'chat::moderate', "stream_name: 'chat'"),
  log: binding('log', 'ops::page', "level: 'error'"),
  other: HTTP,
};
