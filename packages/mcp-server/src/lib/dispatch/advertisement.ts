import type { ToolInfo } from '@episodic/protocol'
import type { PresentedState } from '../host/host.ts'

export interface Advertisement {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly instructions: string
  /** The observation of the caller's session, if the instructions contain it; `null` otherwise. */
  readonly presented: PresentedState | null
  readonly tools: readonly ToolInfo[]
  /**
   * The URI of the session's state, or its template; `null` at the trainer endpoint, whose extension returns the state.
   */
  readonly state: string | null
}

/** The capabilities of the agent endpoint besides tools, in both protocol versions. */
export const AT_AGENTS = { resources: { subscribe: true }, prompts: {}, completions: {} }

/** The extension of MCP by which a call that waits is answered later. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The extensions of the agent endpoint, in the stateless version: tasks, and the skill that says how it is used. */
export const EXTENSIONS = { 'io.modelcontextprotocol/skills': {}, [TASKS]: {} }
