// Adds the matchers to Vitest's `expect`.
export { playEpisode } from '@episodic/harness/vitest'
