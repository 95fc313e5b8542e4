import { MissingProgram } from './find-program.ts'
import type { Scene, Stage } from './scenes/scene.ts'

/** What came of one play of a scene. */
export type Row = PlayedRow | UnplayedRow

interface PlayedRow {
  readonly scene: string
  readonly sessions: string
  readonly kind: 'played'
  /** What came out, in a line. */
  readonly outcome: string
  /** Whether the goal was reached. */
  readonly works: boolean
  /** Whether that is what was to come out. */
  readonly asExpected: boolean
  /** Sessions that were opened. */
  readonly opened: number
}

interface UnplayedRow {
  readonly scene: string
  readonly sessions: string
  /** `skipped`: the machine lacks a program. `failed`: something broke that the scene is not about. */
  readonly kind: 'skipped' | 'failed'
  /** What is missing and how to install it, or what broke. */
  readonly outcome: string
}

/** What a scene is played with, and whether the steps are a script's: a real model may find other ones. */
export interface PlayOptions extends Stage {
  readonly scripted: boolean
}

/** Plays a scene in all its ways, one after the other. Rejects with the signal's reason, and with nothing else. */
export async function* playScene(scene: Scene, options: PlayOptions): AsyncGenerator<Row> {
  const goal = scene.plays.find(({ works }) => works)?.expected
  for (const play of scene.plays) {
    options.signal.throwIfAborted()
    const row = { scene: scene.name, sessions: play.sessions }
    try {
      const { text, opened } = await play.run(options)
      const works = goal?.test(text) ?? false
      // What a real model does with a session a call is its own affair; with one session it is to get there.
      const asExpected = options.scripted ? play.expected.test(text) : works || !play.works
      yield { ...row, kind: 'played', outcome: text, works, asExpected, opened }
    } catch (error) {
      options.signal.throwIfAborted()
      const kind = error instanceof MissingProgram ? 'skipped' : 'failed'
      yield { ...row, kind, outcome: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Whether a row is as it should be. What was skipped is. */
export function isAsExpected(row: Row): boolean {
  return row.kind === 'skipped' || (row.kind === 'played' && row.asExpected)
}
