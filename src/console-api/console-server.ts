// What the console server says of itself, before and without an engine: `GET /console.json`.

export const CONSOLE_INFO_PATH = '/console.json';

/** The WebSocket of streams cannot carry a header from a browser: the token goes base64url-coded into this offer. */
export const TOKEN_SUBPROTOCOL_PREFIX = 'svc-console-token.';

export interface ConsoleInfo {
  version: string;
  read_only: boolean;
  flow_enabled: boolean;
  /** The browser has to ask its user for the token: `Authorization: Bearer`, or the first live frame. */
  token_required: boolean;
  engine: EngineLink;
}

export interface EngineLink {
  http_url: string;
  stream_url: string;
  bridge_url: string;
  /** Whether the bridge is connected now. */
  connected: boolean;
  /** Since when it is as `connected` says, Unix milliseconds. */
  since: number;
  error: string | null;
  /** How to start it. */
  hint: string;
}

/**
 * `POST` here sends one request to the engine's HTTP port and answers what came back as JSON. So the browser needs no
 * other origin (APP-3), and no answer of an application is ever a document of the console's origin.
 */
export const HTTP_REQUEST_PATH = '/api/http-request';

export interface HttpRequest {
  method: string;
  /** Path and query, escaped. */
  path: string;
  headers: [name: string, value: string][];
  body?: string;
  /** 1 to 60 000; 30 000 where it is not given. */
  timeout_ms?: number;
}

export interface HttpResponse {
  status: number;
  status_text: string;
  headers: [name: string, value: string][];
  /** Empty where it is not text. */
  body: string;
  is_text: boolean;
  /** Of the whole body. */
  bytes: number;
  /** The body was longer than `HTTP_RESPONSE_BYTES_MAX`, or went on when the time was over: here is its beginning. */
  is_cut: boolean;
  duration_ms: number;
}

export const HTTP_RESPONSE_BYTES_MAX = 4 * 1_024 * 1_024;
