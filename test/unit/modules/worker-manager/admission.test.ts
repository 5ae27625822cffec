import { describe, expect, test } from 'vitest';
import { type AdmissionRules, type AdmissionState, admit } from '../../../../src/modules/worker-manager/admission.ts';
import { admissionOf, NO_LIMITS, requestOf } from '../../../support/engine/worker-port.ts';

const TOKEN = 'a token that is long enough, with blanks';
const OPEN: AdmissionRules = {
  token: undefined,
  boundHost: '127.0.0.1',
  allowedHosts: [],
  allowedOrigins: ['http://localhost:3113'],
};
const CLOSED: AdmissionRules = { ...OPEN, token: TOKEN };

describe('who may connect', () => {
  test.each(['/', '/otel'])('[wire 1.2] %s is accepted, whatever the query and the headers', (path) => {
    const request = requestOf({ path, query: 'token=abc&x=%zz' }, { 'x-anything': '1', cookie: 'a=b' });
    expect(admit(request, OPEN, stateOf())).toEqual({ ok: true, subprotocol: undefined });
  });

  test.each(['/ws', '//', '/otel/', '/OTEL', '', '/../', '/ws/channels'])('[wire 1.2] %j is not found', (path) => {
    expect(admit(requestOf({ path }), OPEN, stateOf())).toMatchObject({ ok: false, status: 404 });
  });

  test.each([
    [[], undefined],
    [['svc.json.v1'], 'svc.json.v1'],
    [['other', 'svc.json.v1'], 'svc.json.v1'],
    [['other'], undefined],
    [['SVC.JSON.V1'], undefined],
  ])('[wire 1.3] Of the subprotocols %j the engine selects %s', (subprotocols, expected) => {
    expect(admit(requestOf({ subprotocols }), OPEN, stateOf())).toEqual({ ok: true, subprotocol: expected });
  });

  test('[X3] A page of another origin and a foreign Host are refused', () => {
    const page = requestOf({}, { origin: 'http://evil.example' });
    expect(admit(page, OPEN, stateOf())).toMatchObject({ status: 403 });
    const rebound = requestOf({}, { host: 'evil.example' });
    expect(admit(rebound, OPEN, stateOf())).toMatchObject({ status: 403 });
  });
});

describe('the token', () => {
  test.each([
    [`Bearer ${TOKEN}`, true],
    [`bearer ${TOKEN}`, true],
    [`Bearer   ${TOKEN}`, true],
    [undefined, false],
    ['', false],
    ['Bearer', false],
    ['Bearer ', false],
    [TOKEN, false],
    [`Basic ${TOKEN}`, false],
    [`Bearer ${TOKEN}x`, false],
    [`Bearer x${TOKEN}`, false],
    [`Bearer ${TOKEN.slice(1)}`, false],
    [`Bearer ${TOKEN.toUpperCase()}`, false],
  ])('[X2] The header %j is answered with %s', (authorization, isIn) => {
    const request = requestOf({}, { authorization });
    expect(admit(request, CLOSED, stateOf()).ok).toBe(isIn);
  });

  test('[X2] A token in the address does not count', () => {
    const request = requestOf({ query: `token=${TOKEN}&authorization=Bearer ${TOKEN}` });
    expect(admit(request, CLOSED, stateOf())).toMatchObject({ status: 401 });
  });

  test('[X2] The refusal does not quote the token', () => {
    const request = requestOf({}, { authorization: 'Bearer my-guess' });
    expect(JSON.stringify(admit(request, CLOSED, stateOf()))).not.toContain('my-guess');
  });

  test('[wire 13] Telemetry needs no token from the address of a connected worker, and all else does', () => {
    const isKnownAddress = (address: string) => address === '10.0.0.7';
    const from = (path: string, address: string) =>
      admit(requestOf({ path }), CLOSED, stateOf({ address, isKnownAddress })).ok;
    expect(from('/otel', '10.0.0.7')).toBe(true);
    expect(from('/otel', '10.0.0.8')).toBe(false);
    expect(from('/', '10.0.0.7')).toBe(false);
  });

  test('[X2] A wrong token is refused, even on a port that needs none', () => {
    const known = stateOf({ isKnownAddress: () => true });
    const request = requestOf({ path: '/otel' }, { authorization: 'Bearer wrong' });
    expect(admit(request, CLOSED, known)).toMatchObject({ status: 401 });
  });
});

describe('a port without room', () => {
  test('[guarantees 4] A full port answers 503, and one with too many new connections 429', () => {
    const full = stateOf({ port: admissionOf({ connectionsMax: 0, connectionsPerSecondMax: 9 }) });
    expect(admit(requestOf(), OPEN, full)).toMatchObject({ status: 503 });
    const stormed = stateOf({ port: admissionOf({ connectionsMax: 9, connectionsPerSecondMax: 1 }) });
    expect(admit(requestOf(), OPEN, stormed).ok).toBe(true);
    expect(admit(requestOf(), OPEN, stormed)).toMatchObject({ status: 429 });
  });

  test('[guarantees 4] A connection refused for another reason does not count', () => {
    const engine = { isDraining: false };
    const state = stateOf({ port: admissionOf({ connectionsMax: 1, connectionsPerSecondMax: 1 }, engine) });
    admit(requestOf({ path: '/x' }), CLOSED, state);
    admit(requestOf({}, { host: 'evil.example' }), CLOSED, state);
    admit(requestOf(), CLOSED, state);
    engine.isDraining = true;
    admit(requestOf(), OPEN, state);
    engine.isDraining = false;
    expect(admit(requestOf(), OPEN, state).ok).toBe(true);
  });

  test('[guarantees 3.3] A draining engine refuses connections, and gives the reason to authenticated clients only', () => {
    const state = stateOf({ port: admissionOf(NO_LIMITS, { isDraining: true }) });
    expect(admit(requestOf(), OPEN, state)).toMatchObject({
      status: 503,
      text: 'SHUTTING_DOWN: the engine is stopping',
    });
    expect(admit(requestOf(), CLOSED, state)).toMatchObject({ status: 401 });
  });
});

function stateOf(fields: Partial<AdmissionState> = {}): AdmissionState {
  return {
    port: admissionOf(NO_LIMITS),
    address: '10.0.0.7',
    isAuthBusy: false,
    isKnownAddress: () => false,
    isChannel: () => false,
    ...fields,
  };
}
