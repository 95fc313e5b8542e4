import type { Completion, EpisodeRecord } from '@episodic/protocol'

/** All answers of language models in an episode: of its steps, then those that led to no step. */
export function completionsOf({
  steps,
  undecided = [],
}: Pick<EpisodeRecord, 'steps' | 'undecided'>): readonly Completion[] {
  return [...steps.flatMap(({ completions = [] }) => completions), ...undecided]
}

/**
 * Whether the server counted the tokens of an answer. No request reads none, so 0 is written for those that did not.
 */
export function isCounted({ promptTokens }: Pick<Completion, 'promptTokens'>): boolean {
  return promptTokens > 0
}
