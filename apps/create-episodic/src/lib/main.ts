import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { CreateError, createProject } from './create-project.ts'
import { KINDS, type KindName } from './kinds.ts'
import { nextSteps } from './next-steps.ts'

const LIST = Object.entries(KINDS).map(([name, { description }]) => `  ${name.padEnd(13)} ${description}`)
const HELP = `Usage: npm create episodic [folder] [-- --kind <kind>]

Writes a project with a world for language-model agents: its tests, its types,
and a workflow that runs them. Asks for what is not given, in a terminal.

Kinds:
${LIST.join('\n')}
`

/** Runs the command, and resolves with its exit status: 1 if nothing was created, 2 for wrong arguments. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const options = { kind: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    if (values.help) return Number(!process.stdout.write(HELP))
    const [given, more] = positionals
    // npm takes an option before `--` for one of its own.
    if (process.env.npm_config_kind !== undefined && values.kind === undefined)
      throw new TypeError(
        `npm has kept --kind for itself. Put -- before it: npm create episodic ${given ?? 'my-world'} -- --kind ${more ?? '<kind>'}`,
      )
    if (more !== undefined) throw new TypeError(`One folder can be created, and "${more}" is a second one.`)
    const folder = given ?? (await ask('In which folder?', 'my-world'))
    const kind = toKind(values.kind ?? (await ask(`${LIST.join('\n')}\nWhat kind of world?`, 'world')))
    process.stdout.write(nextSteps(folder, createProject(folder, kind)))
    return 0
  } catch (error) {
    // `parseArgs` throws it for options that there are not.
    const isArgument = error instanceof TypeError
    if (!isArgument && !(error instanceof CreateError)) throw error
    process.stderr.write(`error: ${error.message}\n${isArgument ? `\n${HELP}` : ''}`)
    return isArgument ? 2 : 1
  }
}

function toKind(name: string): KindName {
  if (Object.hasOwn(KINDS, name)) return name as KindName
  throw new TypeError(`There is no kind "${name}". There is: ${Object.keys(KINDS).join(', ')}.`)
}

/** Asks in a terminal. Resolves with the usual answer if there is nobody to ask, and rejects if the user gives up. */
async function ask(question: string, usual: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return usual
  process.stdout.write(`${question} (${usual}) `)
  for await (const line of createInterface(process.stdin)) return line.trim() || usual
  throw new CreateError('Nothing was created.')
}
