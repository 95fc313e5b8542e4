import type { JsonObject, LoggedStep } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import type { Check } from '../check-parts.ts'
import { type ReferenceEpisode, rewardOf } from '../worlds/reference-episode.ts'

/** The result of an agent, as far as it is compared. */
export interface RolloutResult {
  readonly reward: number
  readonly response: { readonly output: readonly JsonObject[] }
  readonly problem?: string
}

/** Compares the result of `simple_agent` with the same episode in the process of the host. */
export function checkSimple(result: RolloutResult, { steps }: ReferenceEpisode, check: Check): void {
  checkOutputs(result, steps, check)
  const { end, success } = (steps.at(-1) as LoggedStep).report
  const fields = result as unknown as JsonObject
  check('the steps', fields.steps, steps.length)
  check('the end', [fields.terminated, fields.truncated], [kindOf(end, 'terminated'), kindOf(end, 'truncated')])
  check('the reason of the end', fields.end_reason, end?.reason)
  const terms = sumOfTerms(steps)
  // A world may have a term of this name.
  if (!('success' in terms)) check('the success', fields.success, success === undefined ? undefined : Number(success))
  check('the terms', fields.reward_components, terms)
  check('the mask', fields.mask_sample, false)
}

/** Compares the result of `gymnasium_agent` with the same episode in the process of the host. */
export function checkGymnasium(result: RolloutResult, { steps }: ReferenceEpisode, check: Check): void {
  // The agent does not keep the outputs of its last turn.
  checkOutputs(result, steps, check, steps.length - 1)
  const { end } = (steps.at(-1) as LoggedStep).report
  const { terminated, truncated } = result as unknown as JsonObject
  check('the end', [terminated, truncated].map(Number), [kindOf(end, 'terminated'), kindOf(end, 'truncated')])
}

function checkOutputs(result: RolloutResult, steps: readonly LoggedStep[], check: Check, count = steps.length): void {
  const outputs = result.response.output.filter(({ type }) => type === 'function_call_output')
  check(
    'the answers',
    outputs.map(({ output }) => parsed(String(output))),
    steps.slice(0, count).map(shown),
  )
  check(
    'the return',
    result.reward,
    steps.map(rewardOf).reduce((sum, reward) => sum + reward, 0),
  )
}

/** What a model is shown of a step: its data once, and not again as a line of the text. */
function shown({ observation: { text, structured }, report: { refused } }: LoggedStep): unknown {
  if (refused !== null) return { error: text }
  return structured === null ? text : { ...structured, observation: withoutDataLine(text, structured) }
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return output
  }
}

function sumOfTerms(steps: readonly LoggedStep[]): JsonObject {
  const sums: Record<string, number> = {}
  for (const { report } of steps)
    for (const [name, value] of Object.entries(report.terms)) sums[name] = (sums[name] ?? 0) + value
  return sums
}

function kindOf(end: LoggedStep['report']['end'], kind: string): number {
  return Number(end?.kind === kind)
}
