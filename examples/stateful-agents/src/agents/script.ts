import type { ToolCall as Call } from '@episodic/agent'

/** The arguments of a tool: plain JSON. */
export type ToolInput = NonNullable<Call['arguments']>

/** A tool call that a model asks for. */
export interface ToolCall {
  readonly tool: string
  readonly input: ToolInput
}

/** What a tool answered, as the model reads it. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

/** What a scripted model does in place of thinking: it yields tool calls, is handed what they answered, and returns its last words. */
export type Script = () => Generator<ToolCall, string, ToolResult>

/**
 * Finds a script's next turn from all that its tools have answered so far, in their order: a tool call, or its last words.
 *
 * A model is asked afresh in each turn and remembers nothing, so the script plays from its start each time.
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

/** Calls a tool in a script, and gives what it says. The script gives up where the tool fails, as it fails without it. */
export function* call(tool: string, input: ToolInput = {}): Generator<ToolCall, string, ToolResult> {
  const { text, isError } = yield { tool, input }
  if (isError) throw new GivenUp(`I gave up: ${tool} failed.`)
  return text
}

class GivenUp extends Error {}
