import { z } from 'zod'
import { proportionSchema } from '../fold/proportion.ts'

/** The success of a policy that the world itself has, measured on the tasks of a run. */
const anchorSchema = z.object({
  /** `nothing`, or `random` in a world that has no such policy; `solver`. */
  policy: z.string(),
  /** The folder of its run, relative to that of the run beside which it stands. */
  run: z.string(),
  ...proportionSchema.shape,
})
export type Anchor = z.infer<typeof anchorSchema>

/**
 * The content of `anchors.json`: between what a success rate lies. The floor is what doing nothing earns, the oracle
 * what the world's reference policy does. `null` for a policy that the world does not have.
 */
export const anchorsSchema = z.object({
  format: z.literal(1),
  floor: anchorSchema.nullable(),
  oracle: anchorSchema.nullable(),
})
export type Anchors = z.infer<typeof anchorsSchema>
