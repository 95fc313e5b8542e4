/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { absenceOf } from './lib/environment/absent-action.ts'
export { declaredAction } from './lib/environment/declared-action.ts'
export type { EnvironmentSpec, Transition } from './lib/environment/environment.ts'
export { judgedPart } from './lib/environment/judged-part.ts'
export { findMadeOf, loadToReplay } from './lib/environment/made-of.ts'
export { playAction } from './lib/environment/play-action.ts'
export { readsWhatItWrites } from './lib/environment/stored-state.ts'
export { sayResources, sayTextAlone } from './lib/environment/tool-answer.ts'
export type { Containment } from './lib/host/containment.ts'
export { dumpSession } from './lib/host/dump-session.ts'
export type { StateView } from './lib/host/host.ts'
export { renderMetric } from './lib/host/prometheus-text.ts'
export { ownFrames } from './lib/own-frames.ts'
