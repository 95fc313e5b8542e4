export type { RewardMode } from './lib/episode/reward-mode.ts'
export type { InternalError } from './lib/http/problem.ts'
export { type OpenEnvOptions, openEnvRoutes } from './lib/openenv/routes.ts'
