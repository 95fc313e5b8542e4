export type { Classic } from './lib/classic.ts'
export { classics } from './lib/classics.ts'
export { measureReference } from './lib/measure-reference.ts'
export type { Reference } from './lib/reference.ts'
