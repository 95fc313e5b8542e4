import { hash } from 'node:crypto'
import type { Json, JsonObject } from '@episodic/protocol'
import type { PythonCall } from '../python/expression.ts'
import { callFunction, equalityOf, loadStates, type States } from './classes.ts'
import type { BfclTask, Library } from './data.ts'

/** What is kept of an episode beside the states of the classes. */
export interface Progress {
  turn: number
  /** Calls in this turn. */
  calls: number
  /** Digests of the answers so far. */
  answered: string[]
  /** Why the task is not solved any more. */
  failed: string | null
  states: States
}

/**
 * Calls in a turn after which a model has to quit. The original counts answers, which may have several calls; no right
 * turn is cut off by that.
 */
const MOST_CALLS = 20

/** A function of a task's classes. */
export interface Called {
  readonly name: string
  readonly className: string
}

/** Plays calls of a task, and judges its turns by those of the ground truth. */
export interface Judge {
  start(): Progress
  /** Calls a function. Returns its answer, and whether the episode is over, since the turn has too many calls. */
  call(progress: Progress, called: Called, given: JsonObject): { answer: string; isOver: boolean }
  /** Ends a turn. Returns whether it was the last. */
  endTurn(progress: Progress): boolean
}

interface Truth {
  readonly answers: readonly string[]
  readonly states: string
}

export function createJudge(task: BfclTask, library: Library): Judge {
  const call = (states: States, { name, className }: Called, given: JsonObject) =>
    callFunction(states, { name, className, given, isLong: task.isLong }, library)

  let known: readonly Truth[] | null = null
  const truth = () => {
    if (known) return known
    const states = loadStates(task, library)
    known = task.turns.map(({ golden }) => ({
      answers: golden.map((one) => {
        const { called, given } = readGoldenCall(task, one, library)
        return digest(call(states, called, given))
      }),
      states: digestStates(states),
    }))
    return known
  }

  const endTurn = (progress: Progress) => {
    progress.failed ??= faultOf(progress, truth()[progress.turn] as Truth)
    progress.turn += 1
    progress.calls = 0
    return progress.turn === task.turns.length
  }

  return {
    start: () => ({ turn: 0, calls: 0, answered: [], failed: null, states: loadStates(task, library) }),
    call(progress, called, given) {
      const answer = call(progress.states, called, given)
      progress.answered.push(digest(answer))
      progress.calls += 1
      const isOver = progress.calls > Math.max(MOST_CALLS, task.turns[progress.turn]?.golden.length ?? 0)
      // In the last turn the original looks at what was done, and fails the task in any other.
      if (isOver && !endTurn(progress)) progress.failed ??= 'too-many-calls'
      return { answer, isOver }
    },
    endTurn,
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

/** Returns a call of the ground truth with its arguments by name. Those of a float that is whole are `{ $float }`. */
export function readGoldenCall({ classes }: BfclTask, { name, positional, named }: PythonCall, library: Library) {
  const className = classes.find((one) => library.functions(one).has(name))
  if (className === undefined) throw new Error(`No class of the task has ${name}.`)
  const keys = Object.keys(library.functions(className).get(name)?.parameters.properties ?? {})
  const given = { ...Object.fromEntries(positional.map((value, index) => [keys[index], value])), ...named }
  return { called: { name, className }, given: given as { readonly [name: string]: Json } }
}

function digestStates(states: States): string {
  return digest(JSON.stringify(equalityOf(states)))
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 16)
}
