import { Command, CommanderError } from 'commander'
import { bundleCommand } from './commands/bundle.ts'
import { callCommand } from './commands/call.ts'
import { checkCommand } from './commands/check.ts'
import { compareCommand } from './commands/compare.ts'
import { datasetCommand } from './commands/dataset.ts'
import { exportCommand } from './commands/export.ts'
import { gradeCommand } from './commands/grade.ts'
import { loadCommand } from './commands/load.ts'
import { playCommand } from './commands/play.ts'
import { queueCommand } from './commands/queue.ts'
import { replayCommand } from './commands/replay.ts'
import { reportCommand } from './commands/report.ts'
import { runCommand } from './commands/run.ts'
import { serveCommand } from './commands/serve.ts'
import { sessionsCommand } from './commands/sessions.ts'
import { suiteCommand } from './commands/suite.ts'
import { toolsCommand } from './commands/tools.ts'
import { tournamentCommand } from './commands/tournament.ts'
import { viewCommand } from './commands/view.ts'
import { workCommand } from './commands/work.ts'
import { type Console, colorsOf, processConsole } from './console.ts'
import { HarnessError, type HarnessErrorCode } from './harness-error.ts'
import { VERSION } from './own-package.ts'

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
 */
export async function main(args: readonly string[], console: Console = processConsole): Promise<number> {
  const program = new Command('episodic')
    .description('Serve, run and evaluate stateful MCP environments.')
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
    workCommand(console),
    queueCommand(console),
    viewCommand(console),
    reportCommand(console),
    replayCommand(console),
    compareCommand(console),
    tournamentCommand(console),
    gradeCommand(console),
    bundleCommand(console),
    exportCommand(console),
    checkCommand(console),
    datasetCommand(console),
    suiteCommand(console),
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
    return HarnessError.is(error) && USAGE_ERRORS.has(error.code) ? 2 : 1
  }
}

/** Makes a command and its subcommands write and exit like the program. */
function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program)
  for (const inner of command.commands) inherit(inner, program)
  return command
}
