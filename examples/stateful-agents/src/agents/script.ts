import type { ToolCall as Call } from '@episodic/agent'

/** The arguments of a tool: plain JSON. */
export type ToolInput = NonNullable<Call['arguments']>

/** A tool call that a model asks for. */
export interface ToolCall {
  readonly tool: string
  readonly input: ToolInput
}

/** A tool's answer, as the model reads it. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

/** A generator in place of a model: it yields tool calls, receives their answers, and returns the last message. */
export type Script = () => Generator<ToolCall, string, ToolResult>

/**
 * Returns a script's next turn, a tool call or the last message, from all answers of its tools so far.
 *
 * A model remembers nothing between turns, so the script runs from its start each time.
 */
export function nextTurn(script: Script, results: readonly ToolResult[]): ToolCall | string {
  const play = script()
  try {
    let turn = play.next()
    for (const result of results) {
      if (turn.done) break
      turn = play.next(result)
    }
    return turn.value
  } catch (error) {
    if (error instanceof GivenUp) return error.message
    throw error
  }
}

/** Calls a tool in a script, and returns its answer. Throws if the tool fails. */
export function* call(tool: string, input: ToolInput = {}): Generator<ToolCall, string, ToolResult> {
  const { text, isError } = yield { tool, input }
  if (isError) throw new GivenUp(`I gave up: ${tool} failed.`)
  return text
}

class GivenUp extends Error {}
