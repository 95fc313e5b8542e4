import { type Episode, returnsOf } from '@episodic/env'
import { isDefaultSuccess } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import { formatAmount, formatEpisode } from './last-steps.ts'

/** The most that an episode may use. */
export interface EpisodeBudget {
  readonly steps?: number
  /** Tokens that models read and wrote. */
  readonly tokens?: number
  /** In the currency of the policy's prices. */
  readonly cost?: number
}

/**
 * Expectations of an episode, as `playEpisode` and `runEpisode` resolve with. A failed episode has no result: each of
 * them throws `run-failed` for one, with `not` too.
 */
export interface EpisodeMatchers<Result> {
  /** The episode succeeded, as its world defines it; by default it was terminated with a positive unshaped return. */
  toSucceed(): Result
  /** Its unshaped return is at least this. */
  toEarn(least: number): Result
  /** It ended for this reason, such as `found` or `step-limit`. */
  toEndWith(reason: string): Result
  /** It called these tools in this order; other calls may lie between them. */
  toCallTools(tools: readonly string[]): Result
  /** It used at most this. Throws `option-invalid` for tokens or a cost that the episode does not know. */
  toStayWithin(budget: EpisodeBudget): Result
}

/** What a matcher returns to Vitest. */
interface Matched {
  readonly pass: boolean
  message(): string
}

type FinishedEpisode = Extract<Episode, { kind: 'finished' }>

/** The implementations of {@link EpisodeMatchers}, for `expect.extend`. */
export const episodeMatchers = {
  toSucceed(received: unknown): Matched {
    const episode = finishedEpisode(received, 'toSucceed')
    return matched(episode, hasSucceeded(episode), 'to succeed')
  },
  toEarn(received: unknown, least: number): Matched {
    const episode = finishedEpisode(received, 'toEarn')
    const { unshaped } = returnsOf(episode.steps, 1)
    return matched(episode, unshaped >= least, `to earn at least ${least}`, `It earned ${formatAmount(unshaped)}.`)
  },
  toEndWith(received: unknown, reason: string): Matched {
    const episode = finishedEpisode(received, 'toEndWith')
    return matched(episode, episode.end.reason === reason, `to end with ${reason}`)
  },
  toCallTools(received: unknown, tools: readonly string[]): Matched {
    const episode = finishedEpisode(received, 'toCallTools')
    const called = episode.steps.map(({ action }) => action.tool)
    let found = 0
    for (const tool of called) if (tool === tools[found]) found += 1
    return matched(
      episode,
      found === tools.length,
      `to call ${tools.join(', ')} in this order`,
      `It called ${called.join(', ') || 'nothing'}.`,
    )
  },
  toStayWithin(received: unknown, budget: EpisodeBudget): Matched {
    const episode = finishedEpisode(received, 'toStayWithin')
    const used = usedBy(episode)
    const over: string[] = []
    for (const name of ['steps', 'tokens', 'cost'] as const) {
      const most = budget[name]
      if (most === undefined) continue
      const amount = used[name]
      if (amount === null)
        throw new HarnessError(
          'option-invalid',
          `toStayWithin({ ${name} }) needs the ${name} of every answer of the model: ${
            name === 'cost' ? 'give the policy prices' : 'its server did not count them'
          }.`,
        )
      if (amount > most) over.push(`${formatAmount(amount)} ${name} of ${formatAmount(most)}`)
    }
    const wanted = Object.entries(budget).map(([name, most]) => `${most} ${name}`)
    return matched(episode, over.length === 0, `to stay within ${wanted.join(', ')}`, `It used ${over.join(', ')}.`)
  },
}

/** Whether a finished episode succeeded, as its world defines it or by default. */
export function hasSucceeded({ success, end, steps }: FinishedEpisode): boolean {
  return success ?? isDefaultSuccess(end.kind, returnsOf(steps, 1).unshaped)
}

function matched(episode: Episode, pass: boolean, wanted: string, found?: string): Matched {
  return {
    pass,
    message: () =>
      [
        `Expected the episode ${pass ? 'not ' : ''}${wanted}.`,
        ...(found && !pass ? [found] : []),
        formatEpisode(episode),
      ].join('\n'),
  }
}

/** Throws for what is no episode, and for a failed one. */
function finishedEpisode(received: unknown, matcher: string): FinishedEpisode {
  const episode = received as Episode | null | undefined
  if (episode?.kind === 'finished') return episode
  if (episode?.kind === 'failed')
    throw new HarnessError(
      'run-failed',
      `${matcher} needs an episode with a result, and a failed one has none, neither good nor bad.\n${formatEpisode(episode)}`,
      { cause: episode.cause },
    )
  throw new HarnessError(
    'option-invalid',
    `expect(…).${matcher} takes an episode, as playEpisode and runEpisode resolve with. Is an \`await\` missing?`,
  )
}

/** What an episode used; `null` for what is not known of every answer. */
function usedBy({ steps, undecided = [] }: FinishedEpisode) {
  const answers = [...steps.flatMap(({ completions }) => completions), ...undecided]
  let [tokens, cost]: [number | null, number | null] = [0, 0]
  for (const answer of answers) {
    // A server that does not count says 0.
    tokens =
      tokens === null || answer.promptTokens === 0 ? null : tokens + answer.promptTokens + answer.completionTokens
    cost = cost === null || answer.cost === null ? null : cost + answer.cost
  }
  return { steps: steps.length, tokens, cost }
}
