/**
 * The processes of servers over pipes, which need Node.
 *
 * @module
 */

export { HAS_GROUPS, signalGroup } from './lib/pipe/signal-group.ts'
