/**
 * What the command shares with this package. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { requireNode } from './lib/require-node.ts'
