import { estimateSchema } from '@episodic/report'
import { z } from 'zod'

/** Wins, draws and losses: who earned more in a match has won it. */
const tallySchema = z.object({ wins: z.int(), draws: z.int(), losses: z.int() })

/**
 * The result of a tournament: plain JSON, and the same for the same sealed matches in any order. Returns are unshaped,
 * and intervals 95 %, with the matches of one task as one cluster.
 */
export const tournamentSchema = z.object({
  /** Version of this shape. */
  format: z.literal(1),
  /** As `name@version`. */
  environment: z.string(),
  seats: z.array(z.string()),
  /** `scheduled` = `finished` + `failed` + `unresolved`. */
  counts: z.object({
    tasks: z.int(),
    scheduled: z.int(),
    finished: z.int(),
    failed: z.int(),
    unresolved: z.int(),
  }),
  /** Best rating first. */
  players: z.array(
    z.object({
      name: z.string(),
      policy: z.string(),
      /** In the model of Bradley and Terry; the anchor has 1,000, and 400 more mean tenfold odds. */
      rating: z.number(),
      low: z.number().nullable(),
      high: z.number().nullable(),
      return: estimateSchema.nullable(),
      ...tallySchema.shape,
      /** Failed matches in which this player's policy or action was at fault. They are no losses. */
      faults: z.int(),
    }),
  ),
  /** The player with the rating 1,000; `null` if that is the mean of all. */
  anchor: z.string().nullable(),
  /** What each player earned against each other one, over all seats. */
  pairs: z.array(z.object({ player: z.string(), opponent: z.string(), return: estimateSchema, ...tallySchema.shape })),
  /** What the players earned in each seat: an advantage of the first to move shows here. */
  bySeat: z.array(z.object({ seat: z.string(), return: estimateSchema.nullable(), ...tallySchema.shape })),
  /** Failed matches by code and by the player at fault, `null` for none, each with one message. */
  failures: z.array(z.object({ code: z.string(), player: z.string().nullable(), count: z.int(), message: z.string() })),
  /** Players each of whom wins more than half of the matches against the next, and the last against the first. */
  cycles: z.array(z.array(z.string())),
})

export type Tournament = z.infer<typeof tournamentSchema>
export type Tally = z.infer<typeof tallySchema>
