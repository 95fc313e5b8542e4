import { parseArgs } from 'node:util'
import { cancel, intro, isCancel, outro, select, text } from '@clack/prompts'
import { CreateError, createProject, nextSteps } from './create-project.ts'
import { KINDS, type KindName, toKind } from './kinds.ts'

const HELP = `Usage: npm create episodic [folder] [-- --kind <kind>]

Writes a project with a world for language-model agents: its tests, its types,
and a workflow that runs them. Asks for what is not given, in a terminal.

Kinds:
${Object.entries(KINDS)
  .map(([name, { description }]) => `  ${name.padEnd(13)} ${description}`)
  .join('\n')}
`

/** The folder and the kind, where nothing is given and nobody can be asked. */
const DEFAULTS = { folder: 'my-world', kind: 'world' } as const

/** Runs the command, and resolves with its exit status: 1 if nothing was created, 2 for wrong arguments. */
export async function main(args: readonly string[]): Promise<number> {
  const given = readArguments(args)
  if (typeof given === 'string') {
    process.stderr.write(`error: ${given}\n\n${HELP}`)
    return 2
  }
  if (given.help) {
    process.stdout.write(HELP)
    return 0
  }
  const chosen = process.stdin.isTTY && process.stdout.isTTY ? await ask(given) : { ...DEFAULTS, ...given }
  if (!chosen) return 1
  try {
    const files = createProject(chosen.folder, chosen.kind)
    process.stdout.write(nextSteps(chosen.folder, files))
    return 0
  } catch (error) {
    if (!(error instanceof CreateError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    return 1
  }
}

interface GivenArguments {
  readonly folder?: string
  readonly kind?: KindName
  readonly help?: boolean
}

/** Returns what was given, or what is wrong with it. */
function readArguments(args: readonly string[]): GivenArguments | string {
  const options = { kind: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [folder, more] = positionals
    if (more !== undefined) return `One folder can be created, and "${more}" is a second one.`
    const kind = values.kind === undefined ? undefined : toKind(values.kind)
    if (kind === null) return `There is no kind "${values.kind}". There is: ${Object.keys(KINDS).join(', ')}.`
    return { ...(folder && { folder }), ...(kind && { kind }), ...(values.help && { help: true }) }
  } catch (error) {
    return (error as Error).message
  }
}

/** Asks for what was not given. Resolves with `null` if the user gives up. */
async function ask(given: GivenArguments): Promise<{ readonly folder: string; readonly kind: KindName } | null> {
  intro('A world for language-model agents')
  const folder = given.folder ?? (await text({ message: 'In which folder?', initialValue: DEFAULTS.folder }))
  const kind = isCancel(folder)
    ? folder
    : (given.kind ??
      (await select({
        message: 'What kind of world?',
        options: Object.entries(KINDS).map(([value, { description: hint }]) => ({ value: value as KindName, hint })),
      })))
  if (isCancel(folder) || isCancel(kind)) {
    cancel('Nothing was created.')
    return null
  }
  outro(`${kind} in ${folder}`)
  return { folder, kind }
}
