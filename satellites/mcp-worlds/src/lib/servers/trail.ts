import { canonicalJson, contentId, type JsonObject } from '@episodic/protocol'
import type { ToolAnswer } from './call-tool.ts'

/** One call of a server by its own name for the tool, and what it answered. */
export interface ServerCall extends ToolAnswer {
  readonly tool: string
  readonly arguments: JsonObject
}

/** The trail of a server that was not called yet. */
export const NO_CALLS = ''

/** Returns a name of calls and their answers, in their order: that of the calls before, and one more. */
export function trailAfter(
  before: string,
  { tool, arguments: args, text, structured, isError, attachments }: ServerCall,
) {
  return contentId(canonicalJson([before, tool, args, text, structured, isError, (attachments ?? []) as never]))
}

/** Returns the name of calls and their answers, in their order. */
export function trailOf(calls: readonly ServerCall[]): string {
  return calls.reduce(trailAfter, NO_CALLS)
}
