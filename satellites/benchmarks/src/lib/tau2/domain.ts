import type { JsonObject, Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { Assertion, Task } from './task-file.ts'

/** Thrown by a tool: its caller reads the text after `Error: `. What was changed before stays changed, as there. */
export class ToolError extends Error {}

export function fail(message: string): never {
  throw new ToolError(message)
}

export type Seat = 'agent' | 'user'

export interface DomainTool<State> {
  readonly seat: Seat
  readonly input: z.ZodObject
  readonly changes: boolean
  /** Returns what the caller reads. Throws a {@link ToolError}. */
  play(state: State, input: JsonObject, rng: Rng): string
}

/** A domain of τ²: its rules over a state of its own, without the conversation. */
export interface Domain<State> {
  readonly description: string
  readonly policy: string
  readonly state: z.ZodType
  readonly tools: { readonly [name: string]: DomainTool<State> }
  /** By a tool of the user: words which say that it was called. Default: it has none. */
  readonly claims?: { readonly [tool: string]: string[] }
  /** What of the state each seat may read by its tools, as paths. */
  readonly readable: { readonly [Name in Seat]?: readonly string[] }
  start(task: Task): State
  /** Brings the worlds of both seats together, after each call. Default: there is nothing to do. */
  sync?(state: State): void
  /** Returns what a function of the original asserts. Default: no task asserts anything. */
  holds?(state: State, assertion: Assertion): boolean
  /** Returns the databases of both seats as the original dumps them. */
  databases(state: State): JsonObject
  /** Paths in the databases that chance decides, which are left out where databases are compared. Default: none. */
  readonly random?: readonly string[]
}
