export type { RewardMode } from './lib/episode/reward-mode.ts'
export { serveOrs } from './lib/ors/serve-ors.ts'
