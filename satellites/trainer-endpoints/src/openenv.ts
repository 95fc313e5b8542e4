export type { RewardMode } from './lib/episode/trainer-episode.ts'
export type { InternalError } from './lib/http/problem.ts'
export { type OpenEnvOptions, openEnvRoutes } from './lib/openenv/routes.ts'
