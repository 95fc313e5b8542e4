/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { disconnectPreservingSessions } from '@episodic/mcp-client/channel'
export type { SessionEnvironment } from './lib/environment/session-environment.ts'
export { ownStepOf } from './lib/game/live-match.ts'
export { listAll } from './lib/transport/open-channel.ts'
