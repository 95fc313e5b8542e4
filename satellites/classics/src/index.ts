export type { Classic } from './lib/classic.ts'
export { classics, games } from './lib/classics.ts'
export type { Reference } from './lib/reference.ts'
