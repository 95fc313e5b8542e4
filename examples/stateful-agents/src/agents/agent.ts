import type { AgentSession, LocalTool } from '@episodic/agent'
import type { Script } from './script.ts'

/** A task for an agent, and its means. */
export interface Assignment {
  /** The prompt for a real model. */
  readonly prompt: string
  /** The steps for a scripted model. */
  readonly script: Script
  readonly mcpSession: AgentSession
  /** Functions of this program beside the tools of the servers. */
  readonly tools: readonly LocalTool[]
  readonly signal: AbortSignal
}

/** Runs an assignment with an agent of some framework. Resolves with the agent's last message. */
export type RunAgent = (assignment: Assignment) => Promise<string>

/** The most turns of a model: more than any script here needs, and an end for a model that repeats itself. */
export const MAXIMUM_TURNS = 24
