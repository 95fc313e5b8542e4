export type { AgentWorld, Caller } from './lib/caller.ts'
export type { ContainedCall, Containment } from './lib/containment.ts'
export { Correspondence, type CorrespondenceOptions, type Listening } from './lib/correspondence.ts'
export { createHost } from './lib/create-host.ts'
export { declaredAction } from './lib/declared-action.ts'
export { defineEnvironment } from './lib/define-environment.ts'
export {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
  type DispatchOptions,
  type Reply,
} from './lib/dispatcher.ts'
export { dumpSession } from './lib/dump-session.ts'
export type {
  Environment,
  EnvironmentDefinition,
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
} from './lib/environment.ts'
export type { Fault } from './lib/faults.ts'
export {
  type Acted,
  type Announcement,
  DEFAULT_BOUNDS,
  type ForkRequest,
  type Host,
  type HostBounds,
  type HostOptions,
  type ListenRange,
  type Look,
  type OpenRequest,
  type Principal,
  type PublishRequest,
  type SessionsQuery,
  type SnapshotQuery,
  type StepCall,
  type WatchRange,
} from './lib/host.ts'
export { openInProcess } from './lib/in-process.ts'
export { createMetrics, type Metrics, type StepOutcome } from './lib/metrics.ts'
export { type Rehearsal, type RehearsalOptions, type RehearsedStep, rehearse } from './lib/rehearse.ts'
export type { Outcome, RulesTurn, Standing, Start } from './lib/rules.ts'
export type { RulesRunner } from './lib/rules-runner.ts'
export type { SecretKind, Secrets } from './lib/secrets.ts'
export { ServerError, type ServerErrorCode } from './lib/server-error.ts'
export type { TraceHeaders } from './lib/trace-call.ts'
export type { Waiting } from './lib/waiting.ts'
