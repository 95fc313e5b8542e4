import type { StepResult, ToolLoopAgentSettings, ToolSet } from 'ai'
import { AgentError } from '../agent-error.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a step's tools are is its own affair
type AnyStep = StepResult<any, any>

/** The `AgentError` that a tool threw in the last of some steps, or `null`. */
export function lostIn(steps: readonly AnyStep[]): AgentError | null {
  for (const part of steps.at(-1)?.content ?? [])
    if (part.type === 'tool-error' && AgentError.is(part.error)) return part.error
  return null
}

type Settings = Pick<ToolLoopAgentSettings<never, ToolSet, Record<string, unknown>>, 'prepareStep' | 'stopWhen'>

/** Throws a tool's `AgentError` before the next step, which is begun also where the run would stop. */
export function endOnLostSession({ prepareStep, stopWhen = ({ steps }) => steps.length === 20 }: Settings): Settings {
  return {
    prepareStep(options) {
      const lost = lostIn(options.steps)
      if (lost) throw lost
      return prepareStep?.(options)
    },
    stopWhen: async (at) =>
      !lostIn(at.steps) && (await Promise.all([stopWhen].flat().map((is) => is(at)))).includes(true),
  }
}
