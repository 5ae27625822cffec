// Decides whether a connection may be opened on a worker port, as far as that is known at once. Pure: request in,
// verdict out.

import { type OriginRules, originOffence } from '../../core/access/origin.ts';
import { equalSecrets } from '../../effects/random.ts';
import { SUBPROTOCOL_AUTHORIZATION, SUBPROTOCOLS } from '../../protocol/frames/subprotocols.ts';
import type { Admission, UpgradeRequest } from '../../transport/socket.ts';
import type { ModuleSettings } from '../module.ts';
import { type PortAdmission, refusal } from '../port-admission.ts';
import { admitToChannel, channelTarget } from './channel-endpoint.ts';
import type { WorkerManagerConfig } from './config.ts';

export const WORKER_PATH = '/';
export const TELEMETRY_PATH = '/otel';

export interface AdmissionRules extends OriginRules {
  readonly token: string | undefined;
}

/** The console's own pages. */
const BRIDGE_ORIGINS = ['http://127.0.0.1:3113', 'http://localhost:3113'];

export function admissionRules(
  { rbac, host, allowed_origins: origins }: WorkerManagerConfig,
  { bridgeToken, allowedHosts }: Pick<ModuleSettings, 'bridgeToken' | 'allowedHosts'>,
): AdmissionRules {
  const isRestricted = rbac !== undefined;
  return {
    token: isRestricted ? undefined : bridgeToken,
    boundHost: host,
    allowedHosts: allowedHosts.map((name) => name.toLowerCase()),
    allowedOrigins: (origins ?? (isRestricted ? [] : BRIDGE_ORIGINS)).map((one) => one.toLowerCase()),
    servesOwnPages: isRestricted,
  };
}

/** The present state of the port. */
export interface AdmissionState {
  readonly port: Pick<PortAdmission, 'engineRefusal' | 'enter'>;
  /** The address of the client. */
  readonly address: string;
  /** Whether too many connections already wait for the auth function. */
  readonly isAuthBusy: boolean;
  /** Whether a worker connection that proved the token is open from that address. */
  isKnownAddress(address: string): boolean;
  /** Whether there is a channel with that id and that key. */
  isChannel(id: string, key: string): boolean;
}

/** The checks that reveal least come first. Counts the connection only when it is admitted. */
export function admit(request: UpgradeRequest, rules: AdmissionRules, state: AdmissionState): Admission {
  const target = channelTarget(request);
  const isServed = request.path === WORKER_PATH || request.path === TELEMETRY_PATH;
  if (target === undefined && !isServed) return refusal(404, 'Not found');
  const headers = { host: request.header('host'), origin: request.header('origin') };
  const offence = originOffence(headers, rules);
  if (offence !== undefined) return refusal(403, offence);
  const admission =
    target === undefined
      ? admitAsWorker(request, rules, state)
      : admitToChannel(target, request.subprotocols, state.isChannel);
  if (!admission.ok) return admission;
  const refused = state.port.engineRefusal();
  if (refused !== undefined) return refused;
  if (target === undefined && state.isAuthBusy)
    return refusal(503, 'OVERLOADED: too many connections wait for admission');
  return state.port.enter(state.address) ?? admission;
}

function admitAsWorker(request: UpgradeRequest, rules: AdmissionRules, state: AdmissionState): Admission {
  if (!hasToken(request, rules, state)) return refusal(401, 'Authorization: Bearer <bridge_token> is needed');
  const { subprotocols } = request;
  const form = SUBPROTOCOLS.find((name) => subprotocols.includes(name));
  // The subprotocol after it is a token, which is never selected (PD-43).
  const known = form ?? subprotocols.find((name) => name === SUBPROTOCOL_AUTHORIZATION);
  return { ok: true, subprotocol: known };
}

/** SDKs send no headers on their telemetry socket: there it is enough that a worker of that address has the token. */
function hasToken(request: UpgradeRequest, { token }: AdmissionRules, state: AdmissionState): boolean {
  if (token === undefined) return true;
  const header = request.header('authorization') ?? '';
  // A token may contain blanks; only those around it are removed.
  const given = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
  if (given !== '') return equalSecrets(given, token);
  return request.path === TELEMETRY_PATH && state.isKnownAddress(state.address);
}
