// The entry point for React: hooks.

export { SvcProvider, type SvcProviderProps, useSvc } from './react/provider.ts';
export { type ConnectionView, useConnection } from './react/use-connection.ts';
export { type FunctionCall, useFunction } from './react/use-function.ts';
export { type StateValue, useStateValue } from './react/use-state-value.ts';
export { type StreamView, type StreamViewOptions, useStream } from './react/use-stream.ts';
