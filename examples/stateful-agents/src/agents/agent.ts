import type { AgentSession, LocalTool } from '@episodic/agent'
import type { Script } from './script.ts'

/** What an agent is to do, and with what. */
export interface Assignment {
  /** The words for a model that reads. */
  readonly prompt: string
  /** The steps for one that does not. */
  readonly script: Script
  readonly mcpSession: AgentSession
  /** Functions of this program beside the tools of the servers. */
  readonly tools: readonly LocalTool[]
  readonly signal: AbortSignal
}

/** Has an agent of some framework do what it is assigned, and resolves with its last words. */
export type RunAgent = (assignment: Assignment) => Promise<string>

/** Turns that a model may take: more than any script here needs, and an end for a model that goes round in circles. */
export const MAXIMUM_TURNS = 24
