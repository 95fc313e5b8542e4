/**
 * The processes of servers over pipes, which need Node. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { ServerProcess } from './lib/pipe/server-process.ts'
export { HAS_GROUPS, signalGroup } from './lib/pipe/signal-group.ts'
