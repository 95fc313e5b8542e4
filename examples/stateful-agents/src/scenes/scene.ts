import type { RunAgent } from '../agents/agent.ts'

/** Steps that are played in several ways, which differ in how sessions are kept and in nothing else. */
export interface Scene {
  /** What `--only` calls it. */
  readonly name: string
  /** What it is about, in a few words. */
  readonly title: string
  readonly plays: readonly Play[]
}

/** One way to play a scene. */
export interface Play {
  /** How sessions are kept in it. */
  readonly sessions: string
  /** Whether the goal can be reached this way. */
  readonly works: boolean
  /** What comes out when the steps are those of the script. */
  readonly expected: RegExp
  /** Rejects with `MissingProgram` where the machine lacks what it is played with. */
  run(stage: Stage): Promise<Outcome>
}

/** What a play is given. */
export interface Stage {
  readonly runAgent: RunAgent
  /** Gives the folder for what outlives the play, and makes it where there is none yet. */
  keep(): Promise<string>
  readonly signal: AbortSignal
}

export interface Outcome {
  /** What came out, in a line. */
  readonly text: string
  /** Sessions that were opened for it. */
  readonly opened: number
}
