import { invalidOption } from '../base/harness-error.ts'
import type { RunConfiguration } from './plan/configuration.ts'

/**
 * Returns the seat whose episodes a command reads: the given one, or the one in focus of the run; `undefined` for an
 * environment of one seat. Throws `option-invalid` for a seat that the run does not have.
 */
export function seatOf(
  { seats, focus }: Pick<RunConfiguration, 'seats' | 'focus'>,
  given?: string,
): string | undefined {
  if (given === undefined || (seats && Object.hasOwn(seats, given))) return given ?? focus
  throw invalidOption(
    seats
      ? `The run has no seat "${given}". Its seats are: ${Object.keys(seats).join(', ')}.`
      : 'The run is of an environment with one seat. Leave --seat out.',
  )
}
