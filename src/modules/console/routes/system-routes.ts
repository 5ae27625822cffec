// The engine's status and configuration.

import { validateNoQuery } from '../../../generated/console-requests.ts';
import type { Desk } from '../desk.ts';
import { statusOf } from '../facts/status.ts';
import { type Route, reading } from './route.ts';

export function systemRoutes(desk: Desk): readonly Route[] {
  const { engine } = desk.context;
  return [
    reading('GET /status', validateNoQuery, () => statusOf(desk)),
    reading('GET /config', validateNoQuery, () => engine.config()),
    reading('GET /config/schema', validateNoQuery, () => engine.configSchema()),
  ];
}
