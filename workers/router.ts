// A router thread: sockets, registrations and calls of its own connections. It runs as long as the engine.

import { runRouterThread } from '../src/engine/routers/router-thread.ts';

await runRouterThread();
