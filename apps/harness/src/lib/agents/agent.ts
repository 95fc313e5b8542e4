import type { PolicyContext } from '@episodic/env'
import type { Observation } from '@episodic/protocol'

/** What an agent is asked: an address, and what the player of a task is told. */
export interface Assignment {
  /** Where a session of the world is, which no other agent has: a server of MCP over HTTP. It is a secret. */
  readonly url: string
  readonly task: PolicyContext['task']
  /** How the world stands at the start. */
  readonly observation: Observation
  /** The agent's own chance. */
  readonly seed: string
  /** Aborted once the world has ended, and where the agent has taken too long. */
  readonly signal: AbortSignal
}

/**
 * Something that plays an episode by itself, with whatever tools and loop it has: it calls the world's tools at the
 * session's address, and is watched. It knows neither the world's seed nor its rewards.
 */
export interface Agent {
  readonly name: string
  /** Plays until the world has ended, or until it has had enough. What it throws before that fails the episode. */
  play(assignment: Assignment): Promise<void>
}

/** Describes an agent. */
export function defineAgent(agent: Agent): Agent {
  return agent
}

/** Whether it has what an agent has: a name, which goes into records, and `play`. */
export function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const { name, play } = value as Partial<Agent>
  return typeof name === 'string' && typeof play === 'function'
}
