import { findNonJson, jsonObjectSchema } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { type Clock, systemClock } from '@episodic/state'
import { z } from 'zod'
import { askWithin } from './ask-within.ts'
import type { IntentCandidate, Interpreter, InterpretRequest } from './interpreter.ts'
import { unrecognisedSchema } from './unrecognised.ts'

/** What an interpreter made of an utterance, checked: plain JSON, kept with the input, so that a replay needs no interpreter. */
export interface Interpreted {
  /** Best first. Bounded in number and size. */
  readonly candidates: readonly IntentCandidate[]
  /** How the interpreter failed; `null` where it did not. */
  readonly problem: string | null
}

/** How an interpreter is asked. */
export interface InterpretOptions {
  /** When it was said, in milliseconds since 1970 UTC. */
  readonly now: number
  /** How long the interpreter may take. Default 10,000. */
  readonly milliseconds?: number
  readonly signal?: AbortSignal
  /** Measures the time limit. Default: the machine's. */
  readonly clock?: Clock
}

/** How many candidates are looked at. */
const MAX_CANDIDATES = 16
/** How much JSON the slots of one candidate may be, in UTF-16 code units. */
const LARGEST_SLOTS = 4_000

const interpretationSchema = z.object({
  candidates: z.array(
    z.object({
      intent: z.string().min(1).max(128),
      score: z.number().min(0).max(1),
      slots: jsonObjectSchema,
      unrecognised: unrecognisedSchema.optional(),
    }),
  ),
})

/** Asks an interpreter, and answers whatever it does. Rejects only when `signal` is aborted. */
export async function interpretUtterance(
  interpreter: Interpreter,
  request: Omit<InterpretRequest, 'signal'>,
  { milliseconds = 10_000, signal, clock = systemClock }: Omit<InterpretOptions, 'now'>,
): Promise<Interpreted> {
  return await askWithin(
    (limit) => ask(interpreter, { ...request, signal: limit }),
    () => failure(interpreter, `took longer than ${milliseconds} ms`),
    { milliseconds, signal, clock },
  )
}

async function ask(interpreter: Interpreter, request: InterpretRequest): Promise<Interpreted> {
  try {
    return check(interpreter, await interpreter.interpret(request))
  } catch (error) {
    return failure(interpreter, `failed: ${messageOf(error)}`)
  }
}

/** Asks an interpreter that answers at once. One that answers later has failed. */
export function interpretAtOnce(interpreter: Interpreter, request: Omit<InterpretRequest, 'signal'>): Interpreted {
  try {
    const given = interpreter.interpret({ ...request, signal: NEVER })
    if (!(given instanceof Promise)) return check(interpreter, given)
    given.catch(() => {})
    return failure(interpreter, 'answered with a promise, and was asked to answer at once; one that does sets `later`')
  } catch (error) {
    return failure(interpreter, `failed: ${messageOf(error)}`)
  }
}

const NEVER = new AbortController().signal

/** Holds an interpreter to its contract. */
function check(interpreter: Interpreter, given: unknown): Interpreted {
  const parsed = interpretationSchema.safeParse(given)
  const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
  if (!parsed.success || problem) return failure(interpreter, `gave no interpretation: ${problem}`)
  const candidates = parsed.data.candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES)
  if (candidates.some(({ slots }) => JSON.stringify(slots).length > LARGEST_SLOTS))
    return failure(interpreter, `gave slots of more than ${LARGEST_SLOTS} characters`)
  return { candidates, problem: null }
}

function failure({ name }: Interpreter, why: string): Interpreted {
  return { candidates: [], problem: `The interpreter ${name} ${why}.`.slice(0, 500).toWellFormed() }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
