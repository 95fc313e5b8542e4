import type { EnvironmentInfo, Observation, StepReport, Terms } from '@episodic/protocol'
import { contentPartSchema, parsedObjectSchema, readContent } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'

export const toolAnswerSchema = z.looseObject({
  content: z.array(contentPartSchema),
  structuredContent: parsedObjectSchema.optional(),
  isError: z.boolean().optional(),
})
type ToolAnswer = Pick<z.infer<typeof toolAnswerSchema>, 'content' | 'structuredContent'>

/**
 * Returns the observation in a tool's answer: its texts, joined by newlines, its structured content, and its pictures,
 * sounds, files and resources.
 */
export function observationOf({ content, structuredContent }: ToolAnswer): Observation {
  const [first] = content
  // Nearly every answer is one text.
  if (content.length === 1 && first?.type === 'text' && first.text !== undefined)
    return { text: first.text, structured: structuredContent ?? null }
  const { text, ...more } = readContent(content)
  return { text, structured: structuredContent ?? null, ...more }
}

/** Parses a reply. Throws `reply-malformed`, so that an invalid reply is an error and never a silent zero. */
export function parseReply<S extends z.ZodType>(schema: S, reply: unknown, method: string): z.output<S> {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const at = issue?.path.length ? `at "${issue.path.join('.')}"` : 'as a whole'
  throw new EnvError(
    'reply-malformed',
    `The server's answer to ${method} is malformed ${at}: ${issue?.message}. It may be of another version.`,
    { cause: parsed.error },
  )
}

/**
 * Throws `reply-malformed` for a report that lacks what the server has announced, or has what it has not: a reward term
 * that is missing must not count as a zero.
 */
export function assertReport(info: EnvironmentInfo, report: StepReport): void {
  const { terms, potential, end, seats } = report
  assertPotential(info, potential)
  assertJudged(info, end !== null, report)
  assertTerms(info, terms)
  if (!info.seats) return
  if (!seats) throw malformed("The server's report of a step has no part about seats.")
  for (const name in seats.terms) assertTerms(info, seats.terms[name] as Terms)
  for (const name in seats.ends)
    assertJudged(info, true, { success: seats.successes?.[name], verdicts: seats.verdicts?.[name] })
}

/** Throws `reply-malformed` for a potential that was not announced, and for none if one was. */
export function assertPotential({ potential: announced }: EnvironmentInfo, potential: number | null): void {
  if ((potential !== null) !== announced)
    throw malformed(
      `The server ${announced ? 'announced a potential and sent none' : 'sent a potential that it had not announced'}.`,
    )
}

type Judged = Pick<StepReport, 'success' | 'verdicts'>

function assertJudged(info: EnvironmentInfo, isOver: boolean, { success, verdicts }: Judged): void {
  const wanted = isOver && info.success === true
  if ((success !== undefined) !== wanted)
    throw malformed(
      `The server ${wanted ? 'announced that it judges success, and sent none with the end' : 'sent a success that it had not announced'}.`,
    )
  const names = isOver ? (info.verdicts ?? []) : []
  if (Object.keys(verdicts ?? {}).length !== names.length || names.some((name) => verdicts?.[name] === undefined))
    throw malformed('The server sent other verdicts than it had announced.')
}

function assertTerms({ terms: names }: EnvironmentInfo, terms: Terms): void {
  for (const name of names)
    if (terms[name] === undefined) throw malformed(`The server announced a reward term "${name}" and sent none.`)
  for (const name in terms)
    if (!names.includes(name)) throw malformed(`The server sent a reward term "${name}" that it had not announced.`)
}

export function malformed(message: string): EnvError {
  return new EnvError('reply-malformed', `${message} It may be of another version.`)
}
