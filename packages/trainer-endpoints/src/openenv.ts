export type { EpisodeStep, RewardMode } from './lib/episode/trainer-episode.ts'
