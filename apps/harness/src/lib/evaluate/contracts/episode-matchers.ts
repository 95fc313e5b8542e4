import { type Episode, returnsOf } from '@episodic/env'
import { isObject } from '@episodic/protocol/internal'
import { countUnpriced, isAnswered } from '@episodic/report/fold/completions'
import { isDefaultSuccess } from '@episodic/report/fold/scored-outcome'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import type { MatcherState } from 'vitest'
import { formatAmount, formatEpisode } from './last-steps.ts'
import type { PlayedEpisode } from './play-episode.ts'

export interface EpisodeBudget {
  readonly steps?: number
  /** Tokens that models read and wrote. */
  readonly tokens?: number
  /** In the currency of the policy's prices. */
  readonly cost?: number
}

type ToolOf<Received> = Received extends { readonly environment: { readonly tools: infer Tools } }
  ? keyof Tools & string
  : string

type PartOf<State> = State extends readonly unknown[]
  ? State
  : State extends object
    ? { readonly [Key in keyof State]?: PartOf<State[Key]> }
    : State

type StateOf<Received> = Received extends { readonly state: infer State } ? NonNullable<State> : never

/**
 * Expectations of an episode, as `playEpisode` and `runEpisode` resolve with. A failed episode has no result: each of
 * them throws `run-failed` for one, with `not` too.
 */
export interface EpisodeMatchers<Result, Received = unknown> {
  /** The episode succeeded, as its world defines it; by default it was terminated with a positive unshaped return. */
  toSucceed(): Result
  /** Its unshaped return, or what one term earned, is at least this. Throws `option-invalid` for an unknown term. */
  toEarn(least: number, term?: string): Result
  toEndWith(reason: string): Result
  /**
   * It called these tools in this order; other calls may lie between them. Throws `option-invalid` for a tool that the
   * world of `playEpisode` does not have.
   */
  toCallTools(tools: readonly ToolOf<Received>[]): Result
  /**
   * It left a state with these parts: of an object those keys that are named, a list as a whole. Takes an episode of
   * `playEpisode`. Throws `option-invalid` if the world keeps its state outside.
   */
  toLeaveState(state: PartOf<StateOf<Received>>): Result
  /** It used at most this. Throws `option-invalid` for tokens or a cost that the episode does not know. */
  toStayWithin(budget: EpisodeBudget): Result
}

type FinishedEpisode = Extract<Episode, { kind: 'finished' }>

export const episodeMatchers = {
  toSucceed(received: unknown) {
    const episode = finishedEpisode(received, 'toSucceed')
    return matched(episode, hasSucceeded(episode), 'to succeed')
  },
  toEarn(received: unknown, least: number, term?: string) {
    const episode = finishedEpisode(received, 'toEarn')
    const earned = term === undefined ? returnsOf(episode.steps, 1).unshaped : earnedBy(episode, term)
    const wanted = `to earn at least ${least}${term === undefined ? '' : ` of ${term}`}`
    return matched(episode, earned >= least, wanted, `It earned ${formatAmount(earned)}.`)
  },
  toEndWith(received: unknown, reason: string) {
    const episode = finishedEpisode(received, 'toEndWith')
    return matched(episode, episode.end.reason === reason, `to end with ${reason}`)
  },
  toCallTools(received: unknown, tools: readonly string[]) {
    const episode = finishedEpisode(received, 'toCallTools')
    assertKnown(received as Partial<PlayedEpisode>, tools)
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
  toLeaveState(this: MatcherState, received: unknown, state: object) {
    const episode = finishedEpisode(received, 'toLeaveState')
    const left = leftState(received as Partial<PlayedEpisode>)
    const { equals, utils } = this
    const pass = equals(left, state, [utils.iterableEquality, utils.subsetEquality])
    return matched(episode, pass, 'to leave the state', utils.diff(state, partLike(left, state)))
  },
  toStayWithin(received: unknown, budget: EpisodeBudget) {
    const episode = finishedEpisode(received, 'toStayWithin')
    const used = usedBy(episode)
    const over: string[] = []
    for (const name of ['steps', 'tokens', 'cost'] as const) {
      const most = budget[name]
      if (most === undefined) continue
      const amount = used[name]
      if (amount === null)
        throw invalidOption(
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

export function hasSucceeded({ success, end, steps }: FinishedEpisode): boolean {
  return success ?? isDefaultSuccess(end.kind, returnsOf(steps, 1).unshaped)
}

function earnedBy({ steps }: FinishedEpisode, term: string): number {
  return steps.reduce((sum, { reward: { terms } }) => {
    if (!Object.hasOwn(terms, term))
      throw invalidOption(`toEarn names the term "${term}". The terms are: ${Object.keys(terms).join(', ')}.`)
    return sum + (terms[term] as number)
  }, 0)
}

export function matched(episode: Episode, pass: boolean, wanted: string, found?: string) {
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

export function finishedEpisode(received: unknown, matcher: string): FinishedEpisode {
  const episode = received as Episode | null | undefined
  if (episode?.kind === 'finished') return episode
  if (episode?.kind === 'failed')
    throw new HarnessError(
      'run-failed',
      [
        `${matcher} needs an episode with a result, and a failed one has none, neither good nor bad.`,
        ...formatEpisode(episode).split('\n'),
      ],
      { cause: episode.cause },
    )
  throw invalidOption(
    `expect(…).${matcher} takes an episode, as playEpisode and runEpisode resolve with. Is an \`await\` missing?`,
  )
}

function assertKnown({ environment }: Partial<PlayedEpisode>, tools: readonly string[]): void {
  const unknown = environment && tools.find((tool) => !Object.hasOwn(environment.tools, tool))
  if (unknown !== undefined)
    throw invalidOption(
      `toCallTools names "${unknown}", and ${environment?.name} has no such tool. It has: ${Object.keys(environment?.tools ?? {}).join(', ')}.`,
    )
}

function leftState({ environment, state }: Partial<PlayedEpisode>): object {
  if (state) return state
  const reason = environment
    ? `${environment.name} keeps its state outside`
    : 'an episode of `runEpisode` does not have its state: play it with `playEpisode`'
  throw invalidOption(`toLeaveState needs the state that the episode left, and ${reason}.`)
}

function partLike(value: unknown, like: unknown): unknown {
  if (!isObject(value) || !isObject(like)) return value
  return Object.fromEntries(Object.keys(like).map((key) => [key, partLike(value[key], like[key])]))
}

function usedBy({ steps, undecided = [] }: FinishedEpisode) {
  const answers = [...steps.flatMap(({ completions }) => completions), ...undecided]
  let [tokens, cost]: [number | null, number | null] = [0, 0]
  for (const answer of answers) {
    cost = cost === null || countUnpriced(answer) > 0 ? null : cost + (answer.cost ?? 0)
    if (!isAnswered(answer)) continue
    // A server that does not count says 0.
    tokens =
      tokens === null || answer.promptTokens === 0 ? null : tokens + answer.promptTokens + answer.completionTokens
  }
  return { steps: steps.length, tokens, cost }
}
