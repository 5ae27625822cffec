// What the console server reports about itself, before and without an engine: `GET /console.json`.

export const CONSOLE_INFO_PATH = '/console.json';

/**
 * A browser cannot send a header with the WebSocket of streams. It offers the token as a subprotocol, base64url-coded.
 */
export const TOKEN_SUBPROTOCOL_PREFIX = 'svc-console-token.';

export interface ConsoleInfo {
  version: string;
  read_only: boolean;
  flow_enabled: boolean;
  /**
   * The browser has to ask its user for the token and send it: as `Authorization: Bearer`, or in the first live frame.
   */
  token_required: boolean;
  engine: EngineLink;
}

export interface EngineLink {
  http_url: string;
  stream_url: string;
  bridge_url: string;
  /** Whether the bridge is connected now. */
  connected: boolean;
  /** When `connected` last changed, in Unix milliseconds. */
  since: number;
  error: string | null;
  /** The command that starts the engine. */
  hint: string;
}

/**
 * `POST` here sends one request to the engine's HTTP port and answers the response as JSON. The browser then needs no
 * other origin (APP-3), and no answer of an application becomes a document of the console's origin.
 */
export const HTTP_REQUEST_PATH = '/api/http-request';

export interface HttpRequest {
  method: string;
  /** Path and query, escaped. */
  path: string;
  headers: [name: string, value: string][];
  body?: string;
  /** 1 to 60 000. The default is 30 000. */
  timeout_ms?: number;
}

export interface HttpResponse {
  status: number;
  status_text: string;
  headers: [name: string, value: string][];
  /** Empty where the body is not text. */
  body: string;
  is_text: boolean;
  /** Of the whole body. */
  bytes: number;
  /** The body was longer than `HTTP_RESPONSE_BYTES_MAX`, or did not end in time: only its beginning is here. */
  is_cut: boolean;
  duration_ms: number;
}

export const HTTP_RESPONSE_BYTES_MAX = 4 * 1_024 * 1_024;
