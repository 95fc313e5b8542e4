/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export type { WatchedEnvironment } from './lib/environment/watched-environment.ts'
export { ownStepOf } from './lib/game/play-seat.ts'
export { createAuthorization } from './lib/transport/authorization.ts'
export { listAll } from './lib/transport/list-all.ts'
export { disconnectPreservingSessions } from './lib/transport/open-channel.ts'
