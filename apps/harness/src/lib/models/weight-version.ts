import { z } from 'zod'

/** A version of the weights. Servers say `default` until they are given one. */
const version = z
  .union([z.string().min(1), z.int().transform(String)])
  .nullish()
  .catch(null)
  .transform((name) => (name === 'default' ? null : name))

/**
 * What SGLang says of the weights: their version at the end of the answer, and in newer releases the tokens of each
 * version.
 */
const weightsSchema = z
  .object({
    weight_version: version,
    weight_versions: z.array(z.object({ version })).nullish().catch(null),
  })
  .nullish()
  .catch(null)

/** The fields in which a server names the version of the weights: of an answer, or of a part of a stream. */
export const weightFields = { metadata: weightsSchema, sglext: weightsSchema } as const

/** Returns the version that wrote the first token, which is the oldest one; `null` if the server named none. */
export function weightVersionOf({ sglext, metadata }: z.infer<z.ZodObject<typeof weightFields>>): string | null {
  return oldestOf(sglext) ?? oldestOf(metadata) ?? null
}

function oldestOf(weights: z.infer<typeof weightsSchema>): string | null | undefined {
  return weights?.weight_versions?.[0]?.version ?? weights?.weight_version
}
