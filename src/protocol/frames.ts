// The JSON messages between a worker and the engine, both directions.
//
// `J` is how an arbitrary JSON value is held: the engine keeps it as unparsed text (`RawJson`) and
// relays it byte for byte; an SDK holds the parsed value. Field names are the wire's own snake_case.

/** An error as callers see it. Raised by the engine, or by an executor and passed through unchanged. */
export interface ErrorBody {
  code: string;
  message: string;
  stacktrace?: string;
  /** Only on `enqueue_error`: the refusal in words, and the machine-readable reason. */
  enqueue_error?: string;
  reason?: string;
  /** Only of a job's handler: when to try again. */
  after_ms?: number;
}

/** How the caller wants the call delivered; absent means that it waits for the result. */
export type InvokeAction = { type: 'void' } | EnqueueAction;

export interface EnqueueAction {
  type: 'enqueue';
  queue: string;
  idempotency_key?: string;
  delay_ms?: number;
  priority?: number;
}

// Worker → engine

export interface RegisterFunction<J> {
  type: 'registerfunction';
  id: string;
  description?: string;
  request_format?: J;
  response_format?: J;
  metadata?: J;
  invocation?: J;
}

export interface UnregisterFunction {
  type: 'unregisterfunction';
  id: string;
}

/** Clients up to 0.12 announce groups of functions; kept for display only. */
export interface RegisterService {
  type: 'registerservice';
  id: string;
  name?: string;
  description?: string;
  parent_service_id?: string;
}

export interface RegisterTriggerType<J> {
  type: 'registertriggertype';
  id: string;
  description: string;
  trigger_request_format?: J;
  call_request_format?: J;
  namespace?: string;
}

export interface UnregisterTriggerType {
  type: 'unregistertriggertype';
  id: string;
}

/** Sent by the owner to the engine, and by the engine to the worker that provides the type. */
export interface RegisterTrigger<J> {
  type: 'registertrigger';
  id: string;
  trigger_type: string;
  function_id: string;
  config?: J;
  metadata?: J;
  namespace?: string;
  trigger_namespace?: string;
}

export interface UnregisterTrigger<J> {
  type: 'unregistertrigger';
  id: string;
  trigger_type?: string;
  function_id?: string;
  config?: J;
  metadata?: J;
}

export interface TriggerRegistrationResult<J> {
  type: 'triggerregistrationresult';
  id: string;
  trigger_type: string;
  function_id: string;
  error?: J;
}

/** Sent by a caller to the engine, and by the engine to the executor. */
export interface InvokeFunction<J> {
  type: 'invokefunction';
  /** Absent from a caller: nobody waits. The engine always gives one to the executor. */
  invocation_id?: string;
  function_id: string;
  data?: J;
  action?: InvokeAction;
  metadata?: J;
  traceparent?: string;
  baggage?: string;
  namespace?: string;
  /** The caller's deadline. Towards our own SDK: what is left of it when the call is handed over. */
  timeout_ms?: number;
  /** Only towards our own SDK, where a trigger caused the call. */
  trigger?: TriggerOrigin;
}

/** The trigger that caused a call. */
export interface TriggerOrigin {
  type: string;
  id: string;
}

export interface InvocationResult<J> {
  type: 'invocationresult';
  invocation_id: string;
  function_id?: string;
  result?: J;
  error?: J;
  traceparent?: string;
  baggage?: string;
}

/** First frame after a reconnect: asks the engine to tear the sender's old connection down first. */
export interface Reattach {
  type: 'reattach';
  previous_worker_id: string;
  reattach_token?: string;
}

export interface Ping {
  type: 'ping';
}

export interface Pong {
  type: 'pong';
}

export type WorkerFrame<J> =
  | RegisterFunction<J>
  | UnregisterFunction
  | RegisterService
  | RegisterTriggerType<J>
  | UnregisterTriggerType
  | RegisterTrigger<J>
  | UnregisterTrigger<J>
  | TriggerRegistrationResult<J>
  | InvokeFunction<J>
  | InvocationResult<J>
  | Reattach
  | Ping
  | Pong;

// Engine → worker

export interface WorkerRegistered {
  type: 'workerregistered';
  worker_id: string;
  reattach_token: string;
}

export interface RegistrationRejected {
  type: 'registrationrejected';
  code: string;
  namespace: string;
  owner_worker_id: string;
  function_id: string;
  /** Only towards our own SDK: it is this trigger type that was refused, and `function_id` is empty. */
  trigger_type?: string;
  /** Ours: why, in words. Foreign clients ignore it. */
  message: string;
}

/** Ours: the engine is stopping; take no new work, finish what runs. */
export interface Draining {
  type: 'draining';
}

export type EngineFrame<J> =
  | WorkerRegistered
  | RegistrationRejected
  | RegisterTrigger<J>
  | UnregisterTrigger<J>
  | TriggerRegistrationResult<J>
  | InvokeFunction<J>
  | InvocationResult<J>
  | Draining
  | Ping
  | Pong;

/** What a worker says of itself by calling `engine::workers::register`. */
export interface WorkerAnnouncement {
  runtime?: string;
  version?: string;
  name?: string;
  description?: string;
  os?: string;
  pid?: number;
  isolation?: string;
  namespace?: string;
  /** Calls it takes on at a time, where that is fewer than the engine would hand over. */
  max_in_flight?: number;
}
