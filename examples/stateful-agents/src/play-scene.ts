import { MissingProgram } from './find-program.ts'
import type { Scene, Stage } from './scenes/scene.ts'

/** The result of one play of a scene. */
export type Row = PlayedRow | UnplayedRow

interface PlayedRow {
  readonly scene: string
  readonly sessions: string
  readonly kind: 'played'
  /** The outcome, in one line. */
  readonly outcome: string
  /** Whether the goal was reached. */
  readonly works: boolean
  /** Whether the outcome is the expected one. */
  readonly asExpected: boolean
  /** Sessions that were opened. */
  readonly opened: number
}

interface UnplayedRow {
  readonly scene: string
  readonly sessions: string
  /** `skipped`: a program is missing. `failed`: an unexpected error. */
  readonly kind: 'skipped' | 'failed'
  /** The missing program and how to install it, or the error. */
  readonly outcome: string
}

/** The means of a scene, and whether the steps are scripted: a real model may take others. */
export interface PlayOptions extends Stage {
  readonly scripted: boolean
}

/** Plays a scene in all its ways, one after the other. Rejects only with the signal's reason. */
export async function* playScene(scene: Scene, options: PlayOptions): AsyncGenerator<Row> {
  const goal = scene.plays.find(({ works }) => works)?.expected
  for (const play of scene.plays) {
    options.signal.throwIfAborted()
    const row = { scene: scene.name, sessions: play.sessions }
    try {
      const { text, opened } = await play.run(options)
      const works = goal?.test(text) ?? false
      // With a session for each call a real model may do anything; with one session it has to reach the goal.
      const asExpected = options.scripted ? play.expected.test(text) : works || !play.works
      yield { ...row, kind: 'played', outcome: text, works, asExpected, opened }
    } catch (error) {
      options.signal.throwIfAborted()
      const kind = error instanceof MissingProgram ? 'skipped' : 'failed'
      yield { ...row, kind, outcome: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Whether a row is as expected. A skipped one is. */
export function isAsExpected(row: Row): boolean {
  return row.kind === 'skipped' || (row.kind === 'played' && row.asExpected)
}
