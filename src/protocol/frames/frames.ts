// The JSON messages between a worker and the engine, both directions.
//
// `J` is the representation of an arbitrary JSON value: the engine keeps it as unparsed text (`RawJson`) and
// relays it byte for byte; an SDK holds the parsed value. Field names are the wire's own snake_case.

/** An error as callers see it. Raised by the engine, or by an executor and passed through unchanged. */
export interface ErrorBody {
  code: string;
  message: string;
  stacktrace?: string;
  /** Only for `enqueue_error`: the refusal in words, and the machine-readable reason. */
  enqueue_error?: string;
  reason?: string;
  /** Only from the handler of a job: the delay before the next attempt. */
  after_ms?: number;
}

/** The delivery that the caller asks for; absent means that it waits for the result. */
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
  /** Absent from a caller that does not wait. The engine always sends one to the executor. */
  invocation_id?: string;
  function_id: string;
  data?: J;
  action?: InvokeAction;
  metadata?: J;
  traceparent?: string;
  baggage?: string;
  namespace?: string;
  /** The caller's deadline. For our own SDK: what is left of it when the call is handed over. */
  timeout_ms?: number;
  /** Only for our own SDK, if a trigger caused the call. */
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

/**
 * Ours, both ways: the sender is stopping. It accepts no new work and finishes what is running. The engine treats
 * registrations that a worker withdraws after it as part of its departure.
 */
export interface Draining {
  type: 'draining';
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
  | Draining
  | Ping
  | Pong;

// Engine → worker

export interface WorkerRegistered {
  type: 'workerregistered';
  worker_id: string;
  reattach_token: string;
  /** Only for our own SDK: how many unanswered calls this connection may have. The SDK holds further calls. */
  in_flight_per_caller?: number;
}

export interface RegistrationRejected {
  type: 'registrationrejected';
  code: string;
  namespace: string;
  owner_worker_id: string;
  function_id: string;
  /** Only for our own SDK: the trigger type that was refused; `function_id` is then empty. */
  trigger_type?: string;
  /** Ours: the reason in words. Other clients ignore it. */
  message: string;
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

/** The announcement of a worker, in its call of `engine::workers::register`. */
export interface WorkerAnnouncement {
  runtime?: string;
  version?: string;
  name?: string;
  description?: string;
  os?: string;
  pid?: number;
  isolation?: string;
  namespace?: string;
  /** Number of calls it runs at a time, if that is fewer than the engine would hand over. */
  max_in_flight?: number;
}
