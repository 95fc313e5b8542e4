export type { Classic } from './lib/classic.ts'
export { classics } from './lib/classics.ts'
export { games } from './lib/games.ts'
export type { Reference } from './lib/reference.ts'
