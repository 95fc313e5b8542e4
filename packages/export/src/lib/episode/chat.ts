import {
  type EpisodeRecord,
  type JsonObject,
  type Observation,
  playedCalls,
  type RecordedStep,
  type Task,
} from '@episodic/protocol'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { speechOf } from '@episodic/report/text/speech-of'
import type { ExportSource } from '../export-format.ts'
import { returnsOf } from './rewards.ts'
import { stalenessColumns } from './staleness-columns.ts'

/** What a player did before it was answered: one call, those that a language model made in one answer, or words. */
export interface Turn {
  /** What was said: words that were the move, or what a language model said beside its calls; empty for nothing. */
  readonly text: string
  readonly calls: readonly TurnCall[]
  /** What was shown after words that were the move; `null` for calls, which have results. */
  readonly reply: string | null
  readonly steps: readonly RecordedStep[]
}

export interface TurnCall {
  /** `call_<start of the episode's chain>_<step>`, so that a call can be traced to its sealed line. */
  readonly id: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly result: string
}

/** Characters of a chain in the id of a call: enough to find a line, and short enough for every reader. */
const TRACE = 12

/** The id of a call, from which its sealed line can be found. `number` is from 1. */
export function callIdOf(chain: string, number: number): string {
  return `call_${chain.slice(0, TRACE)}_${number}`
}

export function chatOf({ task, start, steps, chain }: EpisodeRecord) {
  const played = playedCalls(steps)
  const turns: (Turn & { readonly calls: TurnCall[]; readonly steps: RecordedStep[] })[] = []
  for (const [i, step] of steps.entries()) {
    const { action, observation, completions = [] } = step
    const call = { id: callIdOf(chain, i + 1), ...action, result: observation.text }
    const isFurther = completions.length === 0 && played[i] && played[i].answer === played[i - 1]?.answer
    const words = played[i] ? null : speechOf(step)
    if (words !== null) turns.push({ text: words, calls: [], reply: observation.text, steps: [step] })
    else if (isFurther) {
      turns.at(-1)?.calls.push(call)
      turns.at(-1)?.steps.push(step)
    } else turns.push({ text: completions.at(-1)?.text ?? '', calls: [call], reply: null, steps: [step] })
  }
  return { opening: openingOf(task, start?.observation), turns }
}

export function openingOf({ prompt }: Pick<Task, 'prompt'>, observation?: Pick<Observation, 'text'>): string {
  return [prompt, observation?.text ?? ''].filter((text) => text !== '').join('\n\n')
}

/** The columns by which a line can be grouped, filtered and traced to its sealed episode. */
export function columnsOf(record: EpisodeRecord, { policyVersion }: Pick<ExportSource, 'policyVersion'>) {
  const { task, attempt, environment, policy, chain } = record
  const outcome = scoredOutcomeOf(record)
  const [end, reason] =
    outcome.kind === 'failed' ? ['failed', outcome.error.code] : [outcome.end.kind, outcome.end.reason]
  return {
    environment: `${environment.name} ${environment.version}`,
    player: policy.name,
    task: task.id,
    attempt,
    split: task.split,
    return: returnsOf(record)?.unshaped ?? null,
    // A failed episode has not been unsuccessful.
    success: outcome.kind === 'failed' ? null : isSuccess(record),
    ...(outcome.kind === 'finished' && outcome.verdicts && { verdicts: outcome.verdicts }),
    end,
    reason,
    episode: chain,
    ...(record.faults && { tool_faults: record.faults.length }),
    ...stalenessColumns(record, policyVersion),
  }
}

/** Each `term.<name>`, as {@link termSums} has it, and each `verdict.<name>`: a further verdict of the world. */
export function figuresOf(record: EpisodeRecord): Record<string, number | boolean> {
  const verdicts = record.outcome.kind === 'finished' ? record.outcome.verdicts : undefined
  const named = Object.entries({ term: termSums(record), verdict: verdicts ?? {} }).flatMap(([kind, values]) =>
    Object.entries(values).map(([name, value]) => [`${kind}.${name}`, value] as const),
  )
  return Object.fromEntries(named)
}

/** The sum of each reward term over the steps of an episode, before weights. */
export function termSums({ steps }: EpisodeRecord): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { reward } of steps)
    for (const [term, value] of Object.entries(reward.terms)) sums[term] = (sums[term] ?? 0) + value
  return sums
}
