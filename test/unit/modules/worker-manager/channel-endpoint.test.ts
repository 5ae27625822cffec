import { describe, expect, test } from 'vitest';
import { type AdmissionRules, type AdmissionState, admit } from '../../../../src/modules/worker-manager/admission.ts';
import { channelTarget } from '../../../../src/modules/worker-manager/channel-endpoint.ts';
import { admissionOf, NO_LIMITS, requestOf } from '../../../support/engine/worker-port.ts';

const TOKEN = 'x'.repeat(32);
const RULES: AdmissionRules = { token: TOKEN, boundHost: '127.0.0.1', allowedHosts: [], allowedOrigins: [] };
const [ID, KEY] = ['c-1', 'k/1 ü'];
const QUERY = `key=${encodeURIComponent(KEY)}&dir=write`;

describe('the address of an end of a channel', () => {
  test.each([
    ['as a path', `/ws/channels/${ID}`, QUERY],
    [
      'with the parameters in another order, with others among them',
      `/ws/channels/${ID}`,
      `x=1&dir=write&key=${encodeURIComponent(KEY)}`,
    ],
    ['below a prefix', `/engine/v1/ws/channels/${ID}`, QUERY],
    ['after the query of the address', '/', `token=abc/ws/channels/${ID}?${QUERY}`],
    ['after an empty query', '/', `/ws/channels/${ID}?${QUERY}`],
    ['after the query of an address with a path', '/engine', `a=b&token=abc/ws/channels/${ID}?${QUERY}`],
  ])('[wire 1.2] It is recognized %s', (_case, path, query) => {
    expect(channelTarget({ path, query })).toEqual({ ok: true, id: ID, key: KEY, direction: 'write' });
  });

  test.each([
    ['/', ''],
    ['/otel', 'token=abc'],
    ['/ws/channels', QUERY],
    ['/', `path=%2Fws%2Fchannels%2F${ID}?${QUERY}`],
  ])('[wire 1.2] %s?%s is not the address of an end', (path, query) => {
    expect(channelTarget({ path, query })).toBeUndefined();
  });

  test.each([
    ['no parameters at all', `/ws/channels/${ID}`, '', 'key is missing'],
    ['no key', `/ws/channels/${ID}`, 'dir=read', 'key is missing'],
    ['an empty key', `/ws/channels/${ID}`, 'key=&dir=read', 'key is missing'],
    ['no direction', `/ws/channels/${ID}`, 'key=k', 'dir is missing or unknown'],
    ['another direction', `/ws/channels/${ID}`, 'key=k&dir=READ', 'dir is missing or unknown'],
    ['no parameters after the query of the address', '/', `token=a/ws/channels/${ID}`, 'key is missing'],
  ])('[wire 1.2] With %s the answer is 400 and names what is missing', (_case, path, query, text) => {
    expect(ask(path, query)).toMatchObject({ ok: false, status: 400, text: expect.stringContaining(text) });
  });
});

describe('who may connect to an end', () => {
  test('[wire 13] A client with the key needs no token of the port', () => {
    expect(ask(`/ws/channels/${ID}`, QUERY)).toEqual({ ok: true, subprotocol: undefined });
    expect(ask('/', `token=abc/ws/channels/${ID}?${QUERY}`)).toEqual({ ok: true, subprotocol: undefined });
    expect(ask('/', '')).toMatchObject({ status: 401 });
  });

  test.each([
    ['a wrong key', ID, 'k-2'],
    ['an unknown id', 'c-2', KEY],
    ['the id as the key', ID, ID],
    ['an id followed by more text', `${ID}/x`, KEY],
    ['no id', '', KEY],
  ])('[wire 1.2] With %s the answer is 404, with the same text', (_case, id, key) => {
    const answer = ask(`/ws/channels/${id}`, `key=${encodeURIComponent(key)}&dir=read`);
    expect(answer).toEqual({ ok: false, status: 404, text: 'Channel not found' });
  });

  test('[X3] A page of another origin and a foreign Host are refused before all other checks', () => {
    for (const headers of [{ host: 'evil.example' }, { host: 'localhost', origin: 'http://evil.example' }]) {
      expect(ask(`/ws/channels/${ID}`, QUERY, headers)).toMatchObject({ status: 403 });
      expect(ask('/ws/channels/nothing', '', headers)).toMatchObject({ status: 403 });
    }
  });

  test.each([
    [['svc.channel.v1'], 'svc.channel.v1'],
    [['svc.json.v1', 'svc.channel.v1'], 'svc.channel.v1'],
    [['svc.json.v1', 'svc.msgpack.v2'], undefined],
  ])('[CH2] Of the subprotocols %j the engine selects %s', (subprotocols, subprotocol) => {
    expect(ask(`/ws/channels/${ID}`, QUERY, undefined, subprotocols)).toEqual({ ok: true, subprotocol });
  });

  test('[CH2] A worker connection does not get the subprotocol of channels', () => {
    const request = requestOf({ subprotocols: ['svc.channel.v1'] });
    expect(admit(request, { ...RULES, token: undefined }, stateOf())).toEqual({
      ok: true,
      subprotocol: undefined,
    });
  });

  test('[guarantees 4] An end counts as a connection of the port, and a refused one does not', () => {
    const state = stateOf({ port: admissionOf({ connectionsMax: 1, connectionsPerSecondMax: 9 }) });
    expect(askWith(state, `/ws/channels/${ID}`, 'key=wrong&dir=read')).toMatchObject({ status: 404 });
    expect(askWith(state, `/ws/channels/${ID}`, QUERY)).toMatchObject({ ok: true });
    expect(askWith(state, `/ws/channels/${ID}`, QUERY)).toMatchObject({ status: 503 });
    expect(askWith(state, '/', '', undefined, [], { ...RULES, token: undefined })).toMatchObject({ status: 503 });
  });

  test('[guarantees 3.3] A draining engine refuses every client', () => {
    expect(
      askWith(stateOf({ port: admissionOf(NO_LIMITS, { isDraining: true }) }), `/ws/channels/${ID}`, QUERY),
    ).toMatchObject({ status: 503 });
  });
});

function ask(path: string, query: string, headers?: Readonly<Record<string, string>>, subprotocols?: string[]) {
  return askWith(stateOf(), path, query, headers, subprotocols);
}

function askWith(
  state: AdmissionState,
  path: string,
  query: string,
  headers: Readonly<Record<string, string>> = { host: 'localhost' },
  subprotocols: readonly string[] = [],
  rules = RULES,
) {
  return admit(requestOf({ path, query, subprotocols }, { host: undefined, ...headers }), rules, state);
}

function stateOf(fields: Partial<AdmissionState> = {}): AdmissionState {
  return {
    port: admissionOf(NO_LIMITS),
    address: '127.0.0.1',
    isAuthBusy: false,
    isKnownAddress: () => false,
    isChannel: (id, key) => id === ID && key === KEY,
    ...fields,
  };
}
