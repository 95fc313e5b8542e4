/** `pnpm interop <program> [options]`: plays with what others have written, in environments that it makes. */
import { PROGRAMS } from './programs.ts'
import { type Program, totalOf } from './report.ts'
import { runAll } from './run-all.ts'

const ALL = { name: 'all', does: 'runs all of these, and counts the checks of each client', run: runAll }

const USAGE = `Usage: pnpm interop <program> [options]

${[...PROGRAMS, ALL].map(({ name, does }) => `  ${name.padEnd(12)} ${does}`).join('\n')}

Each makes the Python environments that it needs, ends with a line of JSON that counts the checks of each client, and has
more options: pnpm interop <program> --help`

const [name = '--help', ...args] = process.argv.slice(2)
try {
  if (name === '--help') console.log(USAGE)
  else process.exitCode = await runAndReport(programOf(name), args)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}

function programOf(name: string): Program {
  const program = [...PROGRAMS, ALL].find((program) => program.name === name)
  if (program) return program.run
  throw new Error(`There is no program ${name}.\n${USAGE}`)
}

/** Prints the line that ends a run, and resolves with the exit code. */
async function runAndReport(run: Program, args: readonly string[]): Promise<number> {
  const report = await run(args)
  if (!report) return 0
  const { clients, details } = report
  const { passed, failed } = totalOf(report)
  console.log(JSON.stringify({ name: `interop-${name}`, ok: failed === 0, passed, failed, clients, ...details }))
  return failed === 0 ? 0 : 1
}
