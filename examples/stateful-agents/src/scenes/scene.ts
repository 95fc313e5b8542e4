import type { RunAgent } from '../agents/agent.ts'

/** Steps that are played in several ways, which differ only in their sessions. */
export interface Scene {
  /** The name for `--only`. */
  readonly name: string
  /** A short title. */
  readonly title: string
  readonly plays: readonly Play[]
}

/** One way to play a scene. */
export interface Play {
  /** The sessions of this way, in words. */
  readonly sessions: string
  /** Whether the goal can be reached this way. */
  readonly works: boolean
  /** The expected outcome of the scripted steps. */
  readonly expected: RegExp
  /** Rejects with `MissingProgram` if a program is missing. */
  run(stage: Stage): Promise<Outcome>
}

/** The arguments of a play. */
export interface Stage {
  readonly runAgent: RunAgent
  /** Resolves with the folder for files that outlive the play. Creates it if needed. */
  keep(): Promise<string>
  readonly signal: AbortSignal
}

export interface Outcome {
  /** The outcome, in one line. */
  readonly text: string
  /** The number of sessions that were opened. */
  readonly opened: number
}
