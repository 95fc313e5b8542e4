export type { RewardMode } from './lib/episode/trainer-episode.ts'
export { type OrsOptions, serveOrs } from './lib/ors/serve-ors.ts'
