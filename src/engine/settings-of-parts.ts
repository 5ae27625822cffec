// What the parts of an engine take from the settings of the file. Router threads load this, and none of the code that
// reads a file.

import type { LoadedConfig } from '../config/load.ts';
import type { WaitingLimits } from '../core/calls/waiting-calls.ts';
import { OPEN_FILES_SHARE } from '../effects/open-files.ts';
import type { BrowserLimits, ModuleSettings, StreamLimits } from '../modules/module.ts';
import type { ChannelSettings } from '../router/channels/channels.ts';

export function moduleSettings(
  { settings }: Pick<LoadedConfig, 'settings'>,
  openFiles: number | undefined,
): ModuleSettings {
  const { trusted, http } = settings.limits;
  const affordable = openFiles === undefined ? Number.POSITIVE_INFINITY : Math.floor(openFiles * OPEN_FILES_SHARE);
  return {
    isDropIn: settings.compat === 'iii',
    bridgeToken: settings.bridge_token,
    allowedHosts: settings.allowed_hosts,
    trustedProxies: settings.trusted_proxies,
    portSharing: undefined,
    http: {
      connectionsMax: Math.min(http.connections, affordable),
      bodyBuffersBytesMax: http.body_buffers_bytes,
      answerBuffersBytesMax: http.answer_buffers_bytes,
    },
    trusted: {
      frameBytes: trusted.frame_bytes,
      connectionsMax: Math.min(trusted.connections, affordable),
      connectionsPerSecondMax: trusted.connections_per_second,
      outboundBufferBytes: trusted.outbound_buffer_bytes,
      outboundCloseBytes: trusted.outbound_close_bytes,
      inFlightPerWorker: trusted.in_flight_per_worker,
      inFlightPerCaller: trusted.in_flight_per_caller,
      functionsPerWorker: trusted.functions_per_worker,
      triggersPerWorker: trusted.triggers_per_worker,
    },
    browser: browserLimits(settings.limits.browser, affordable),
    stream: streamLimits(settings.limits, affordable),
  };
}

function streamLimits({ stream, engine }: LoadedConfig['settings']['limits'], affordable: number): StreamLimits {
  return {
    frameBytes: stream.frame_bytes,
    connectionsMax: Math.min(stream.connections, affordable),
    connectionsPerSecondMax: stream.connections_per_second,
    perAddress: {
      connectionsMax: stream.connections_per_address,
      connectionsPerSecondMax: stream.connections_per_second_per_address,
    },
    authCalls: stream.auth_calls,
    askMs: stream.ask_timeout_ms,
    registrationMs: stream.registration_timeout_ms,
    outboundBufferBytes: stream.outbound_buffer_bytes,
    outboundMessages: stream.outbound_messages,
    messages: { perSecond: stream.messages_per_second, burst: stream.messages_burst },
    subscriptions: stream.subscriptions,
    valueBytes: stream.value_bytes,
    historyEvents: stream.history_events,
    historyMs: stream.history_ms,
    historyBytes: stream.history_bytes,
    allBuffersBytes: engine.outbound_buffers_bytes,
  };
}

function browserLimits(browser: LoadedConfig['settings']['limits']['browser'], affordable: number): BrowserLimits {
  return {
    frameBytes: browser.frame_bytes,
    connectionsMax: Math.min(browser.connections, affordable),
    connectionsPerSecondMax: browser.connections_per_second,
    perAddress: {
      connectionsMax: browser.connections_per_address,
      connectionsPerSecondMax: browser.connections_per_second_per_address,
    },
    messages: { perSecond: browser.messages_per_second, burst: browser.messages_burst },
    channels: {
      channelsMax: browser.channels,
      bytesMax: browser.channel_bytes,
      perSecondMax: browser.channels_per_second,
    },
    authCalls: browser.auth_calls,
    askMs: browser.ask_timeout_ms,
    registrationMs: browser.registration_timeout_ms,
    maxAgeMs: browser.max_age_ms,
    outboundBufferBytes: browser.outbound_close_bytes,
    outboundCloseBytes: browser.outbound_close_bytes,
    inFlightPerWorker: browser.in_flight_per_worker,
    inFlightPerCaller: browser.in_flight_per_caller,
    functionsPerWorker: browser.functions_per_worker,
    triggersPerWorker: browser.triggers_per_worker,
  };
}

export function waitingLimits({ limits }: LoadedConfig['settings']): WaitingLimits {
  return { callsMax: limits.engine.waiting_calls, bytesMax: limits.engine.waiting_bytes };
}

export function channelSettings({ settings }: Pick<LoadedConfig, 'settings'>): ChannelSettings {
  const { engine } = settings.limits;
  return {
    channelsMax: engine.channels,
    bufferBytesMax: engine.channel_buffer_bytes,
    buffersBytesMax: engine.channel_buffers_bytes,
    spillBytesMax: engine.channel_spill_bytes,
    spillsBytesMax: engine.channel_spills_bytes,
  };
}
