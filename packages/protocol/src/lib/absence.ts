import { z } from 'zod'

/**
 * Why the server takes the step of a seat that does not act: its time for the turn is over, it has no steps left, or the
 * opener of the session says that its player has left.
 */
export const absenceSchema = z.enum(['turn-limit', 'step-limit', 'left'])
export type Absence = z.infer<typeof absenceSchema>
