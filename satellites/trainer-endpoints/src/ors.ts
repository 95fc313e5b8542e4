export type { RewardMode } from './lib/episode/reward-mode.ts'
export { type OrsOptions, serveOrs } from './lib/ors/serve-ors.ts'
