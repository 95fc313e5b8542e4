export { ClientChannel, type ClientChannelOptions, type Subscription } from './lib/dispatch/client-channel.ts'
export {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
  type DispatchOptions,
  type Reply,
} from './lib/dispatch/dispatcher.ts'
export { inProcess } from './lib/dispatch/in-process.ts'
export type { TraceHeaders } from './lib/dispatch/trace-call.ts'
export type { CallOptions } from './lib/environment/call-options.ts'
export { declaredAction } from './lib/environment/declared-action.ts'
export { defineEnvironment } from './lib/environment/define-environment.ts'
export type {
  EnvironmentDefinition,
  EnvironmentSpec,
  EventContext,
  EventDefinition,
  FinalContext,
  LegalCalls,
  PlayContext,
  PrepareContext,
  ReadOnly,
  StartContext,
  Tool,
  Transition,
  WorldEvent,
  WorldEvents,
  WorldState,
} from './lib/environment/environment.ts'
export type { InitialState, ObservedState, PlayOutcome, RulesTurn } from './lib/environment/play-action.ts'
export { type Rehearsal, type RehearsalOptions, type RehearsedStep, rehearse } from './lib/environment/rehearse.ts'
export type { RulesRunner } from './lib/environment/rules-runner.ts'
export type { SecretKind, Secrets } from './lib/environment/secrets.ts'
export type { AgentAddress, AgentCaller, Caller, Principal, SessionAddress } from './lib/host/caller.ts'
export type { ContainedCall, Containment } from './lib/host/containment.ts'
export { createHost } from './lib/host/create-host.ts'
export { dumpSession } from './lib/host/dump-session.ts'
export type { Fault } from './lib/host/faults.ts'
export {
  DEFAULT_BOUNDS,
  type EventNotification,
  type ForkRequest,
  type Host,
  type HostBounds,
  type HostOptions,
  type ListenRange,
  type OpenRequest,
  type PublishRequest,
  type SessionRef,
  type SessionsQuery,
  type SnapshotQuery,
  type StateView,
  type StepCall,
  type StepOutcome,
  type TrainerSessionRef,
  type WatchRange,
} from './lib/host/host.ts'
export { createMetrics, type Metrics, type StepStatus } from './lib/host/metrics.ts'
export { ServerError, type ServerErrorCode } from './lib/server-error.ts'
