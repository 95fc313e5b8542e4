import type { World } from '@episodic/play/worlds/world'
import { jsonObjectSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { z } from 'zod'

const figureSchema = z.union([z.number(), z.string(), z.array(z.number())])
export type Figure = z.infer<typeof figureSchema>

/** How far a figure may be from its reference: not at all, an absolute difference, or the interval of a mean. */
const toleranceSchema = z.union([z.literal('exact'), z.number().min(0), z.literal('interval')])

const referenceSchema = z.looseObject({
  id: z.string().min(1),
  params: jsonObjectSchema,
  quantity: z.string(),
  value: figureSchema,
  tolerance: toleranceSchema,
  source: z.string(),
  /**
   * With the kind `played`, the mean return of many episodes of `policy`, or of `seats`. `measure` knows the other
   * kinds.
   */
  how: z.looseObject({ kind: z.string() }),
})
export type WorldReference = z.infer<typeof referenceSchema>

const measuredSchema = z.object({ value: figureSchema, holds: z.boolean() })

export type Measured = z.infer<typeof measuredSchema>

/**
 * Reads what a module says about its world: its `references`, which are published values, and its `measure`, which
 * measures them by its rules. Throws `suite-invalid` if they are not valid.
 */
export async function readReferences(world: World) {
  const { name } = world.environment
  const module: { readonly references?: unknown; readonly measure?: unknown } = await import(world.url)
  const parsed = z.array(referenceSchema).safeParse(module.references ?? [])
  if (!parsed.success) throw invalid(`The references of ${name} are invalid: ${z.prettifyError(parsed.error)}`)
  return {
    references: parsed.data,
    /** Throws `suite-invalid` if the module's function fails, or returns something else than a figure. */
    measure(reference: WorldReference): Measured {
      if (typeof module.measure !== 'function')
        throw invalid(
          `${name} exports no "measure", so its reference ${reference.id} cannot be measured. Export a function from a reference to { value, holds }.`,
        )
      try {
        return measuredSchema.parse(module.measure(reference))
      } catch (cause) {
        throw invalid(`${name} cannot measure its reference ${reference.id}: ${(cause as Error).message}`, { cause })
      }
    },
  }
}

const invalid = (message: string, options?: ErrorOptions) => new HarnessError('suite-invalid', message, options)
