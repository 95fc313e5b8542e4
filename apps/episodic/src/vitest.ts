// Adds the matchers to Vitest's `expect`.
export { playEpisode, recordedModel } from '@episodic/harness/vitest'
