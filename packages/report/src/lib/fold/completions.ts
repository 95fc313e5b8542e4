import type { Completion, EpisodeRecord } from '@episodic/protocol'

interface AnsweredEpisode {
  readonly steps: readonly Pick<EpisodeRecord['steps'][number], 'completions'>[]
  readonly undecided?: EpisodeRecord['undecided'] | undefined
}

export function completionsOf({ steps, undecided = [] }: AnsweredEpisode): readonly Completion[] {
  return [...steps.flatMap(({ completions = [] }) => completions), ...undecided]
}

/** The same without those of steps that several leaves of a tree share: these belong to one of the leaves. */
export function ownCompletionsOf({
  attempt,
  steps,
  undecided = [],
  branch,
}: Pick<EpisodeRecord, 'attempt' | 'steps' | 'undecided' | 'branch'>): readonly Completion[] {
  // An episode that ended before it could branch is sealed once for each of its leaves.
  if (branch && attempt % branch.copies !== 0) return []
  if (undecided.length === 0 && !steps.some(({ completions }) => completions)) return []
  return completionsOf({ steps: steps.slice(sharedSteps(branch)), undecided })
}

function sharedSteps(branch: EpisodeRecord['branch']): number {
  const fork = branch?.path.findLastIndex((line) => line > 0) ?? -1
  return branch?.at[fork] ?? 0
}

/** Whether a request got an answer. One of an agent that did not is recorded with its failed tries alone. */
export function isAnswered({ time, tries }: Pick<Completion, 'time' | 'tries'>): boolean {
  return time !== undefined || tries === undefined
}

const NOT_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * How many requests of an answer have a cost that nobody knows: an answer without one, and tries that were late or
 * broke off. Most providers charge for what a model wrote before its client was gone.
 */
export function countUnpriced(completion: Pick<Completion, 'time' | 'tries' | 'cost'>): number {
  const lost = (completion.tries ?? []).filter(({ status, code }) => status === null && !NOT_SENT.has(code))
  return lost.length + (isAnswered(completion) && completion.cost === null ? 1 : 0)
}

/** Whether the server counted the tokens of an answer. No request reads none: 0 stands for those that did not. */
export function isCounted({ promptTokens }: Pick<Completion, 'promptTokens'>): boolean {
  return promptTokens > 0
}
