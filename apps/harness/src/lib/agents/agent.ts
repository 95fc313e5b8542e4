import type { PolicyContext } from '@episodic/env'
import type { Observation } from '@episodic/protocol'

/** The input of an agent: a session URL, and the task as its player sees it. */
export interface Assignment {
  /** The session URL, an MCP server over HTTP for this agent only. It is a secret. */
  readonly url: string
  readonly task: PolicyContext['task']
  /** The observation at the start. */
  readonly observation: Observation
  /** The seed of the agent. */
  readonly seed: string
  /** Aborts when the episode has ended, or when the agent takes too long. */
  readonly signal: AbortSignal
}

/**
 * A program that plays an episode with its own loop: it calls the world's tools at the session URL, and the harness watches.
 * It knows neither the seed of the episode nor its rewards.
 */
export interface Agent {
  readonly name: string
  /** Plays until the episode ends, or until the agent stops. An error that it throws before the end fails the episode. */
  play(assignment: Assignment): Promise<void>
}

/** Defines an agent. */
export function defineAgent(agent: Agent): Agent {
  return agent
}

export function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const { name, play } = value as Partial<Agent>
  return typeof name === 'string' && typeof play === 'function'
}
