import { type HackMatchers, hackMatchers } from '@episodic/check/hack-matcher'
import type { Policy } from '@episodic/env'
import { expect } from 'vitest'
import { type EpisodeMatchers, episodeMatchers } from './lib/evaluate/contracts/episode-matchers.ts'
import { type GradeMatchers, gradeMatchers } from './lib/evaluate/contracts/grade-matcher.ts'
import { type WorldMatchers, worldMatchers } from './lib/evaluate/contracts/pass-matcher.ts'
import { createRecordedModel, type RecordedModelOptions } from './lib/evaluate/contracts/recorded-model.ts'

export { playEpisode } from './lib/evaluate/contracts/play-episode.ts'

/**
 * Returns a policy that asks a language model as `llm:<model>` does, and gives its recorded answers instead where the
 * environment variable `EPISODIC_RECORDINGS` says so: `auto` (the default) asks for what is not recorded and records
 * it, `strict` (the default in CI) never asks, `record` asks for everything anew, `off` neither reads nor writes. The
 * answers of a test are in `__episodes__` beside its file.
 *
 * Throws `option-invalid` for options that cannot be.
 */
export function recordedModel(model: string, options: RecordedModelOptions = {}): Policy {
  return createRecordedModel(model, options, () => expect.getState())
}

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends EpisodeMatchers<R, T>,
      GradeMatchers,
      HackMatchers<void>,
      WorldMatchers<void> {}
}

expect.extend({ ...episodeMatchers, ...gradeMatchers, ...hackMatchers, ...worldMatchers })
