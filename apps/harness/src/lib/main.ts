import { Command, CommanderError } from 'commander'
import { callCommand } from './commands/call.ts'
import { checkCommand } from './commands/check.ts'
import { compareCommand } from './commands/compare.ts'
import { datasetCommand } from './commands/dataset.ts'
import { loadCommand } from './commands/load.ts'
import { playCommand } from './commands/play.ts'
import { replayCommand } from './commands/replay.ts'
import { reportCommand } from './commands/report.ts'
import { runCommand } from './commands/run.ts'
import { serveCommand } from './commands/serve.ts'
import { sessionsCommand } from './commands/sessions.ts'
import { toolsCommand } from './commands/tools.ts'
import { type Console, colorsOf, processConsole } from './console.ts'
import { HarnessError, type HarnessErrorCode } from './harness-error.ts'
import { VERSION } from './version.ts'

/** What the caller can put right by asking for something else. */
const ASKED_WRONGLY: ReadonlySet<HarnessErrorCode> = new Set(['option-invalid', 'world-not-found', 'policy-unknown'])

/**
 * Runs the `episodic` command and resolves with its exit status: 0, or 1 for what failed, or 2 for what was asked
 * wrongly. What did not fail and yet is not all right, such as an interrupted run, is left in `process.exitCode`.
 */
export async function main(args: readonly string[], console: Console = processConsole): Promise<number> {
  const program = new Command('episodic')
    .description('Stateful MCP environments: serve them, play them, report on them.')
    .version(VERSION)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.out.write(text),
      writeErr: (text) => console.err.write(text),
    })
  for (const command of [
    serveCommand(console),
    playCommand(console),
    runCommand(console),
    reportCommand(console),
    replayCommand(console),
    compareCommand(console),
    checkCommand(console),
    datasetCommand(console),
    loadCommand(console),
    sessionsCommand(console),
    toolsCommand(console),
    callCommand(console),
  ])
    program.addCommand(inherit(command, program))
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    console.err.write(`${colorsOf(console.err).red('error')}: ${(error as Error).message}\n`)
    if (process.env.EPISODIC_DEBUG && error instanceof Error) console.err.write(`${error.stack}\n`)
    return HarnessError.is(error) && ASKED_WRONGLY.has(error.code) ? 2 : 1
  }
}

/** Gives a command and those below it the program's way of writing and of ending. */
function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program)
  for (const inner of command.commands) inherit(inner, program)
  return command
}
