/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { absenceOf } from './lib/environment/definition/absent-action.ts'
export { declaredAction } from './lib/environment/definition/declared-action.ts'
export type { EnvironmentSpec, Transition } from './lib/environment/definition/environment.ts'
export { judgedPart } from './lib/environment/definition/judged-part.ts'
export { findMadeOf, loadToReplay } from './lib/environment/definition/made-of.ts'
export { readsWhatItWrites } from './lib/environment/definition/stored-state.ts'
export { playAction } from './lib/environment/rules/play-action.ts'
export { sayResources } from './lib/environment/rules/play-context.ts'
export type { StateView } from './lib/host/host.ts'
export type { Containment } from './lib/host/operate/containment.ts'
export { toInternalError } from './lib/host/operate/faults.ts'
export { renderMetric } from './lib/host/operate/prometheus-text.ts'
export { ownFrames } from './lib/own-frames.ts'
