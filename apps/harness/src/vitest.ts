import { expect } from 'vitest'
import { type EpisodeMatchers, episodeMatchers } from './lib/evaluate/contracts/episode-matchers.ts'
import { type WorldMatchers, worldMatchers } from './lib/evaluate/contracts/pass-matcher.ts'

export { playEpisode } from './lib/evaluate/contracts/play-episode.ts'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends EpisodeMatchers<R>,
      WorldMatchers<void> {}
}

expect.extend({ ...episodeMatchers, ...worldMatchers })
