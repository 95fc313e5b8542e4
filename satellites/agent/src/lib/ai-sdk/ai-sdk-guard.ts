import type { PrepareStepFunction, StepResult, ToolSet } from 'ai'
import { AgentError } from '../agent-error.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a step's tools are is its own affair
type AnyStep = StepResult<any, any>

/** The `AgentError` that a tool threw in the last of some steps, or `null`. */
export function lostIn(steps: readonly AnyStep[]): AgentError | null {
  for (const part of steps.at(-1)?.content ?? [])
    if (part.type === 'tool-error' && AgentError.is(part.error)) return part.error
  return null
}

/** Ends a run with a tool's `AgentError`, thrown before the next step, which the AI SDK would show the model. */
export function endOnLostSession<Tools extends ToolSet, Context extends Record<string, unknown>>(
  prepareStep: PrepareStepFunction<Tools, Context> | undefined,
): PrepareStepFunction<Tools, Context> {
  return (options) => {
    const lost = lostIn(options.steps)
    if (lost) throw lost
    return prepareStep?.(options)
  }
}
