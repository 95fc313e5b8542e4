import { CreateError, createProject, KINDS, type KindName, nextSteps } from 'create-episodic'
import { z } from 'zod'
import { invalidOption } from '../../base/harness-error.ts'
import { flag, option } from '../../base/options.ts'
import { defineCommand } from '../define-command.ts'

const kinds = Object.keys(KINDS) as [KindName, ...KindName[]]

const initOptions = z.object({
  kind: option('<kind>', 'what the world is', z.enum(kinds).default('world')),
  json: flag('print the files as JSON'),
})

export const command = defineCommand('init', initOptions, {
  argument: ['[folder]', 'folder of the project, new or not', '.'],
  help: `
Writes a world, its tests, and what checks them in CI. Kinds:
${kinds.map((kind) => `  ${kind.padEnd(13)} ${KINDS[kind].description}`).join('\n')}

Without a folder of its own, npm create episodic does the same.`,
  run(folder: string, { kind, json }, { out }) {
    try {
      const created = createProject(folder, kind)
      out.write(json ? `${JSON.stringify({ folder, kind, ...created })}\n` : nextSteps(folder, created))
    } catch (cause) {
      if (!(cause instanceof CreateError)) throw cause
      throw invalidOption(cause.message, { cause })
    }
  },
})
