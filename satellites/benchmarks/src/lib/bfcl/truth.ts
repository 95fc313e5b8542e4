import { hash } from 'node:crypto'
import type { Json, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { equalityText } from '../python/equality.ts'
import type { PythonCall } from '../python/expression.ts'
import type { PythonValue } from '../python/value.ts'
import { callFunction, comparedOf, loadStates, type States } from './classes.ts'
import type { BfclTask, FunctionDocument, Library } from './data.ts'

export const progressSchema = z.object({
  turn: z.int(),
  calls: z.int().describe('Calls in this turn.'),
  answered: z.array(z.string()).describe('Digests of all answers so far.'),
  failed: z.string().nullable().describe('Why the task is not solved any more.'),
  states: z.record(z.string(), z.unknown()).describe('Of the classes.'),
})
export type Progress = z.output<typeof progressSchema>

/**
 * Calls in a turn after which a model has to quit. The original counts answers, which may have several calls; no right
 * turn is cut off by that.
 */
const MOST_CALLS = 20

interface Truth {
  readonly answers: readonly string[]
  readonly states: string
}

export function createJudge(task: BfclTask, library: Library) {
  const play = (states: States, name: string, given: JsonObject) => {
    const called = library.functions.get(name) as FunctionDocument
    const sources = library.sources(called.className, task.isLong)
    return callFunction(states, called, given as Record<string, PythonValue>, sources)
  }

  let known: readonly Truth[] | null = null
  const truth = (): readonly Truth[] => {
    const states = loadStates(task, library)
    return task.turns.map(({ golden }) => ({
      answers: golden.map((call) => digest(play(states, call.name, argumentsOf(call, library)))),
      states: digestStates(states),
    }))
  }

  /** Ends a turn. Returns whether it was the last. */
  const endTurn = (progress: Progress) => {
    known ??= truth()
    progress.failed ??= faultOf(progress, known[progress.turn] as Truth)
    progress.turn += 1
    progress.calls = 0
    return progress.turn === task.turns.length
  }

  return {
    start: (): Progress => ({ turn: 0, calls: 0, answered: [], failed: null, states: loadStates(task, library) }),
    /** Calls a function. Returns its answer, and whether the episode is over, since the turn has too many calls. */
    call(progress: Progress, name: string, given: JsonObject) {
      const answer = play(progress.states, name, given)
      progress.answered.push(digest(answer))
      progress.calls += 1
      const isOver = progress.calls > Math.max(MOST_CALLS, task.turns[progress.turn]?.golden.length ?? 0)
      // In the last turn the original looks at what was done, and fails the task in any other.
      if (isOver && !endTurn(progress)) progress.failed ??= 'too-many-calls'
      return { answer, isOver }
    },
    endTurn,
    isSolved: ({ failed, turn }: Progress) => failed === null && turn === task.turns.length,
  }
}

/**
 * Returns what is wrong at the end of a turn, as the original finds it. A turn without calls that are right has no
 * fault.
 */
function faultOf({ calls, answered, states }: Progress, truth: Truth): string | null {
  if (truth.answers.length === 0) return null
  if (calls === 0) return 'no-call'
  if (digestStates(states) !== truth.states) return 'state'
  // Answers of all turns count, and each of them once for a turn.
  const left = [...answered]
  for (const answer of truth.answers) {
    const at = left.indexOf(answer)
    if (at < 0) return 'answers'
    left.splice(at, 1)
  }
  return null
}

/** Returns the arguments of a call of the ground truth by name. Those of a float that is whole are `{ $float }`. */
export function argumentsOf({ name, positional, named }: PythonCall, library: Library) {
  const keys = Object.keys(library.functions.get(name)?.parameters.properties ?? {})
  const given = { ...Object.fromEntries(positional.map((value, index) => [keys[index], value])), ...named }
  return given as { readonly [name: string]: Json }
}

function digestStates(states: States): string {
  return digest(equalityText(comparedOf(states)))
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 16)
}
