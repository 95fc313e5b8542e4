import type { EnvironmentInfo, StepReport, Terms } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'

/**
 * Throws `reply-malformed` for a report that lacks what the server has announced, or has what it has not: a reward term
 * that is missing must not count as a zero.
 */
export function assertReport(info: EnvironmentInfo, { terms, potential, end, success, seats }: StepReport): void {
  assertPotential(info, potential)
  assertSuccess(info, end !== null, success)
  assertTerms(info, terms)
  if (!info.seats) return
  if (!seats) throw malformed("The server's report of a step has no part about seats.")
  for (const name in seats.terms) assertTerms(info, seats.terms[name] as Terms)
  for (const name in seats.ends) assertSuccess(info, true, seats.successes?.[name])
}

/** Throws `reply-malformed` for a potential that was not announced, and for none if one was. */
export function assertPotential({ potential: announced }: EnvironmentInfo, potential: number | null): void {
  if ((potential !== null) !== announced)
    throw malformed(
      `The server ${announced ? 'announced a potential and sent none' : 'sent a potential that it had not announced'}.`,
    )
}

function assertSuccess(info: EnvironmentInfo, isOver: boolean, success: boolean | undefined): void {
  const wanted = isOver && info.success === true
  if ((success !== undefined) !== wanted)
    throw malformed(
      wanted
        ? 'The server announced that it judges success, and sent none with the end.'
        : 'The server sent a success that it had not announced.',
    )
}

function assertTerms({ terms: names }: EnvironmentInfo, terms: Terms): void {
  for (const name of names)
    if (terms[name] === undefined) throw malformed(`The server announced a reward term "${name}" and sent none.`)
  for (const name in terms)
    if (!names.includes(name)) throw malformed(`The server sent a reward term "${name}" that it had not announced.`)
}

/** Returns the error for a reply that no server of this version gives. */
export function malformed(message: string): EnvError {
  return new EnvError('reply-malformed', `${message} It may be of another version.`)
}
