import { dirname, resolve } from 'node:path'
import { modelOptionsSchema, pricesSchema, toPrices } from '@episodic/models/model-options'
import { invalidOption } from '@episodic/run/base/harness-error'
import { whyInvalid } from '@episodic/run/base/json'
import { readTextOrFile } from '@episodic/run/base/option-values'
import { readTextFile } from '@episodic/run/base/text-file'
import { toolFaultRatesSchema } from '@episodic/run/folder/plan/faults/tool-fault-rates'
import { namesOfPrompts } from '@episodic/run/folder/plan/prompt-names'
import { shortName } from '@episodic/run/folder/record/run-folder'
import { z } from 'zod'

/** The settings that a player may have of its own; all others are those of the set. */
const own = modelOptionsSchema
  .omit({
    transcript: true,
    redact: true,
    failFast: true,
    outageLimit: true,
    costLimit: true,
    tokenLimit: true,
    timeLimit: true,
  })
  // Without their defaults: what a player leaves out is as in the set.
  .extend({
    modelTimeout: z.int().min(1),
    concurrency: z.int().min(1),
    parallelToolCalls: z.boolean(),
    images: z.boolean(),
    toolFaults: toolFaultRatesSchema,
  })
  .partial()

/** A player of a set. Keys are given by the name of an environment variable, never by value. */
export const playerSchema = own.extend({
  name: z.string().min(1),
  /** As in `--policy`; left out for the default of each world. */
  policy: z.string().optional(),
})
export type Player = z.infer<typeof playerSchema>

const fileSchema = z
  .array(
    z.strictObject({
      ...own.shape,
      name: z.string().min(1).optional(),
      policy: z.string().min(1),
      /** Input and output, and after them tokens read from a cache and into one. */
      prices: z.array(z.number()).min(2).max(4).transform(toPrices).pipe(pricesSchema).optional(),
    }),
  )
  .min(1)

/**
 * Reads a file of players: a JSON list of `{ name, policy, baseUrl, apiKeyEnv, systemPrompt, temperature, prices, … }`,
 * named after their policies if they have no name, and after their prompts where these differ. `systemPrompt` may be
 * `@<file>`, relative to the file of players. Rejects with `option-invalid`.
 */
export async function readPlayers(file: string): Promise<Player[]> {
  try {
    const players = fileSchema.parse(JSON.parse(readTextFile(file)))
    const read = players.map(({ systemPrompt, ...player }) => ({
      ...player,
      ...(systemPrompt !== undefined && { systemPrompt: readPrompt(systemPrompt, dirname(file)) }),
    }))
    return read.map(({ name, ...player }) => {
      const alike = read.filter(({ policy }) => policy === player.policy).map((one) => one.systemPrompt ?? null)
      const prompt = new Set(alike).size > 1 ? ` ${namesOfPrompts(alike)(player.systemPrompt ?? null)}` : ''
      return { ...player, name: name ?? `${shortName(player.policy)}${prompt}` }
    })
  } catch (cause) {
    const problem = `--policies ${file} is not a list of players`
    throw invalidOption(`${problem}: ${whyInvalid(cause)}`, { cause })
  }
}

/** Returns a text, or the content of the file that it names relative to a folder. */
function readPrompt(text: string, folder: string): string {
  return readTextOrFile(text.startsWith('@') ? `@${resolve(folder, text.slice(1))}` : text)
}
