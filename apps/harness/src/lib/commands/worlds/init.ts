import { Command } from 'commander'
import { CreateError, createProject, KINDS, type KindName, nextSteps } from 'create-episodic'
import { z } from 'zod'
import type { Console } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { addOptions, flag, option } from '../../base/options.ts'

const kinds = Object.keys(KINDS) as [KindName, ...KindName[]]

const initOptions = z.object({
  kind: option('<kind>', 'what the world is', z.enum(kinds).default('world')),
  json: flag('print the files as JSON'),
})

export function initCommand({ out }: Console): Command {
  return addOptions(new Command('init'), initOptions)
    .argument('[folder]', 'folder of the project, new or empty', '.')
    .addHelpText(
      'after',
      `
Writes a world, its tests, and what checks them in CI. Kinds:
${kinds.map((kind) => `  ${kind.padEnd(13)} ${KINDS[kind].description}`).join('\n')}

Without a folder of its own, npm create episodic does the same.`,
    )
    .action((folder: string, { kind, json }: z.infer<typeof initOptions>) => {
      try {
        const files = createProject(folder, kind)
        out.write(json ? `${JSON.stringify({ folder, kind, files })}\n` : nextSteps(folder, files))
      } catch (cause) {
        if (!(cause instanceof CreateError)) throw cause
        throw new HarnessError('option-invalid', cause.message, { cause })
      }
    })
}
