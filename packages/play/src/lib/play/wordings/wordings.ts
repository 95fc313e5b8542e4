import { dirname, resolve } from 'node:path'
import { invalidOption } from '@episodic/run/base/harness-error'
import { whyInvalid } from '@episodic/run/base/json'
import { isLlm } from '@episodic/run/base/player-names'
import { readTextFile } from '@episodic/run/base/text-file'
import { z } from 'zod'
import type { Player } from '../sets/players.ts'

const wordingsSchema = z
  .array(
    z.strictObject({
      name: z.string().min(1),
      systemPrompt: z.string().optional(),
      describe: z.record(z.string(), z.string()).optional(),
    }),
  )
  .min(1)

/**
 * Reads a file of wordings, a JSON list of `{ name, systemPrompt, describe }`, and returns every language model among
 * the players with every wording, named after both. Other players read no wording, and play once. A text may be
 * `@<file>`, relative to the file. Rejects with `option-invalid`, also if no player is a language model.
 */
export async function withWordings(players: readonly Player[], file: string): Promise<Player[]> {
  try {
    const wordings = wordingsSchema.parse(JSON.parse(readTextFile(file)))
    if (!players.some(({ policy = '' }) => isLlm(policy))) throw new Error('no player is llm:<model>, which reads it.')
    const text = (given: string) =>
      given.startsWith('@') ? readTextFile(resolve(dirname(file), given.slice(1))) : given
    return players.flatMap((player) => {
      if (!isLlm(player.policy ?? '')) return [player]
      return wordings.map(({ name, systemPrompt, describe }) => ({
        ...player,
        name: `${player.name} ${name}`,
        ...(systemPrompt !== undefined && { systemPrompt: text(systemPrompt) }),
        ...(describe && {
          describe: Object.fromEntries(Object.entries(describe).map(([tool, given]) => [tool, text(given)])),
        }),
      }))
    })
  } catch (cause) {
    throw invalidOption(`--wordings ${file}: ${whyInvalid(cause)}`, { cause })
  }
}
