import { type Console, colorsOf, printing, processConsole } from '@episodic/run/base/console'
import type { HarnessErrorCode } from '@episodic/run/base/harness-error'
import { VERSION } from '@episodic/run/base/own-package'
import { Command, CommanderError } from 'commander'
import { COMMANDS } from './command-table.ts'

/** Errors of the command line, as opposed to failures. */
const USAGE_ERRORS: ReadonlySet<HarnessErrorCode> = new Set([
  'option-invalid',
  'world-not-found',
  'policy-unknown',
  'grader-unknown',
  'query-invalid',
  'suite-not-found',
])

/**
 * Runs the `episodic` command and resolves with its exit status: 0, 1 for a failure, or 2 for a usage error. A command
 * that neither fails nor succeeds, for example an interrupted run, sets `process.exitCode`.
 *
 * Modules are imported when they are used: this one and the table of commands import as little as possible, so that the
 * command starts fast.
 *
 * @param beforeAction - is called before a command begins, but not for help, a version or a usage error.
 */
export async function main(
  args: readonly string[],
  given: Console = processConsole,
  beforeAction: () => void | Promise<void> = () => {},
): Promise<number> {
  const console = { out: printing(given.out), err: printing(given.err) }
  const program = new Command('episodic')
    .description('Serve, run and evaluate stateful MCP environments.')
    .version(VERSION)
    .showSuggestionAfterError()
    .exitOverride()
    .hook('preAction', beforeAction)
    .configureOutput({ writeOut: (text) => console.out.write(text), writeErr: (text) => console.err.write(text) })
  const named = namedCommand(args)
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    // The others are only listed and suggested.
    const command = name === named ? (await load())(console) : new Command(name)
    program.addCommand(inherit(command.description(description), program))
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const said = [await formatMessage(error), ...(await findFrames(error))].join('\n')
    console.err.write(`${colorsOf(console.err).red('error')}: ${said}\n`)
    if (process.env.EPISODIC_DEBUG && error instanceof Error) console.err.write(`${error.stack}\n`)
    const { HarnessError } = await import('@episodic/run/base/harness-error')
    return HarnessError.is(error) && USAGE_ERRORS.has(error.code) ? 2 : 1
  }
}

/** Returns what an error says: in one line, but for lines of an error of ours, and frames. */
async function formatMessage(error: unknown): Promise<string> {
  const { flattened, HarnessError } = await import('@episodic/run/base/harness-error')
  if (HarnessError.is(error)) return error.message
  const { formatZodError } = await import('@episodic/protocol/base/internal')
  const isOfSchema = error instanceof Error && 'issues' in error
  return flattened(
    isOfSchema ? formatZodError(error as Parameters<typeof formatZodError>[0]) : (error as Error).message,
  )
}

/** Returns where an error came about that has no code of ours or of the system: in the author's code, as a rule. */
async function findFrames(error: unknown): Promise<readonly string[]> {
  if (!(error instanceof Error) || 'code' in error) return []
  const { ownFrames } = await import('@episodic/mcp-server/internal')
  return ownFrames(error)
}

function namedCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'))
  return first === 'help' ? second : first
}

/** Makes a command and its subcommands write and exit like the program. */
function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program)
  for (const inner of command.commands) inherit(inner, program)
  return command
}
