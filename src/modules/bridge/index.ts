// `svc-bridge`: functions of another engine here, and functions of this engine there.

import { depthOf } from '../../core/calls/call-depth.ts';
import { EngineLink, type LinkCall } from '../../effects/engine-link.ts';
import { RAW_NULL, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Outcome } from '../../router/calls/call.ts';
import { defineModule, HOLDS_NOTHING, type ModuleContext } from '../module.ts';
import { type BridgeConfig, bridgeDeclaration } from './config.ts';
import { Mirror } from './mirror.ts';
import { BRIDGED, invokeFunctions, remoteFunction } from './remote-calls.ts';

export const bridgeModule = defineModule({
  declaration: bridgeDeclaration,
  create(context, config) {
    const { clock, logger, version, router } = context;
    const changed = `bridge.${context.random.uuid()}.changed`;
    const exposed = new Map(config.expose.map((entry) => [entry.remote_function ?? entry.local_function, entry]));
    const link = new EngineLink({
      ...{ url: config.url, token: config.token, name: config.service_name, version, clock, logger },
      onUp: () => announce(link, config, changed, mirror),
      onCall(call) {
        if (call.functionId === changed) {
          call.answer({ result: RAW_NULL });
          return mirror.refresh();
        }
        const entry = exposed.get(call.functionId);
        if (entry !== undefined) return callHere(context, entry.local_function, call);
        call.answer({ error: rawJson({ code: 'function_not_found', message: `${call.functionId} is not exposed` }) });
      },
    });
    const mirror = new Mirror({
      ...{ link, logger, patterns: config.mirror },
      offer: (definition) => router.offer(bridgeDeclaration.name, definition),
    });
    const forwarded = config.forward.map(
      ({ local_function: localId, remote_function: remoteId, timeout_ms: timeoutMs }) =>
        remoteFunction(link, { localId, remoteId, timeoutMs }),
    );
    return {
      ...HOLDS_NOTHING,
      functions: [...invokeFunctions(link), ...forwarded],
      triggerTypes: [],
      async start() {
        link.start();
      },
      stop() {
        mirror.stop();
        link.close();
      },
      health: () => ({
        // The functions of this engine do not depend on the other one.
        status: link.trouble === undefined ? 'healthy' : 'degraded',
        details: {
          address: link.address,
          ...(config.mirror.length > 0 && { mirrored: mirror.count }),
          ...(link.trouble !== undefined && { reason: `the other engine is away: ${link.trouble}` }),
        },
      }),
    };
  },
});

/** What the other engine has to know each time the link is up. */
function announce(link: EngineLink, { expose, mirror: patterns }: BridgeConfig, changed: string, mirror: Mirror): void {
  const metadata = rawJson({ [BRIDGED]: true });
  for (const { local_function: local, remote_function: remote = local } of expose) {
    link.register(remote, `Calls ${local} of another engine`, metadata);
  }
  if (patterns.length === 0) return;
  link.register(changed, 'Follows the functions of this engine', metadata);
  link.bind(changed, 'engine::functions-available', changed, {});
  mirror.refresh();
}

/** The other engine calls a function of this one. */
function callHere({ router }: ModuleContext, functionId: string, call: LinkCall): void {
  const { data, traceparent, baggage } = call;
  const payload = Payload.ofText(data ?? RAW_NULL);
  const done = ({ result, error }: Outcome): void => call.answer({ result: result?.asText(), error: error?.asText() });
  router.call({ functionId, payload, depth: depthOf(baggage), traceparent, baggage }, done);
}
