import { findNonJson, jsonObjectSchema } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import { type AskOptions, askWithin } from './ask.ts'
import { unrecognisedSchema } from './conversation-record.ts'
import type { IntentCandidate, Interpreter, InterpretRequest } from './interpreter.ts'

/** A checked interpretation: plain JSON, recorded with the input, so that a replay needs no interpreter. */
export interface Interpreted {
  /** Best first. Bounded in number and size. */
  readonly candidates: readonly IntentCandidate[]
  readonly problem: string | null
}

export interface InterpretOptions extends AskOptions {
  readonly now: number
}

const MAX_CANDIDATES = 16
const MAX_SLOTS_LENGTH = 4_000

const candidateSchema = z.object({
  intent: z.string().min(1).max(128),
  score: z.number().min(0).max(1),
  slots: jsonObjectSchema,
  unrecognised: unrecognisedSchema.optional(),
})

const interpretationSchema = z.object({ candidates: z.array(candidateSchema) })

export const interpretedSchema: z.ZodType<Interpreted> = z.object({
  candidates: z.array(candidateSchema).max(64),
  problem: z.string().nullable(),
})

/** Asks an interpreter. Whatever goes wrong is a `problem`. Rejects only when `signal` is aborted. */
export async function interpretUtterance(
  interpreter: Interpreter,
  request: Omit<InterpretRequest, 'signal'>,
  options: AskOptions,
): Promise<Interpreted> {
  return await askWithin(
    (signal) => ask(interpreter, { ...request, signal }),
    (milliseconds) => failure(interpreter, `took longer than ${milliseconds} ms`),
    options,
  )
}

async function ask(interpreter: Interpreter, request: InterpretRequest): Promise<Interpreted> {
  try {
    return check(interpreter, await interpreter.interpret(request))
  } catch (error) {
    return threw(interpreter, error)
  }
}

/** Asks an interpreter that answers synchronously. A promise is a `problem`. */
export function interpretAtOnce(interpreter: Interpreter, request: Omit<InterpretRequest, 'signal'>): Interpreted {
  try {
    const given = interpreter.interpret({ ...request, signal: NEVER })
    if (!(given instanceof Promise)) return check(interpreter, given)
    given.catch(() => {})
    return failure(interpreter, 'answered with a promise, and was asked to answer at once; one that does sets `later`')
  } catch (error) {
    return threw(interpreter, error)
  }
}

const NEVER = new AbortController().signal

function check(interpreter: Interpreter, given: unknown): Interpreted {
  const parsed = interpretationSchema.safeParse(given)
  const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
  if (!parsed.success || problem) return failure(interpreter, `gave no interpretation: ${problem}`)
  const candidates = parsed.data.candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES)
  if (candidates.some(({ slots }) => JSON.stringify(slots).length > MAX_SLOTS_LENGTH))
    return failure(interpreter, `gave slots of more than ${MAX_SLOTS_LENGTH} characters`)
  return { candidates, problem: null }
}

function failure({ name }: Interpreter, why: string): Interpreted {
  return { candidates: [], problem: `The interpreter ${name} ${why}.`.slice(0, 500).toWellFormed() }
}

function threw(interpreter: Interpreter, error: unknown): Interpreted {
  return failure(interpreter, `failed: ${error instanceof Error ? error.message : error}`)
}
