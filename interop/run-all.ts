import { readOptions } from './options.ts'
import { PROGRAMS } from './programs.ts'
import { type Report, type Tally, totalOf } from './report.ts'

const USAGE = `Usage: pnpm interop all [--only <program,…>] [--python <command>] [--json]

Runs the programs one after another, with their default options, and counts the checks of each client.

  --only    programs: ${PROGRAMS.map(({ name }) => name).join(', ')}
  --python  a Python of 3.13 or newer for nemo-gym, harbor and parity. Default: the first of python3, python3.13 and python3.14 that is
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, and 1 if one did not or a program could not run.`

/** Runs all programs from the command line. A client's checks have the name of their program in front. */
export async function runAll(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { only: { type: 'string' }, python: { type: 'string' } })
  if (!options) return null
  const names = options.only?.split(',') ?? PROGRAMS.map(({ name }) => name)
  const unknown = names.filter((name) => !PROGRAMS.some((program) => program.name === name))
  if (unknown.length > 0) throw new Error(`There is no program ${unknown.join(', ')}.\n${USAGE}`)
  const clients: Record<string, Tally> = {}
  for (const { name, run, takesPython } of PROGRAMS.filter(({ name }) => names.includes(name))) {
    const report = await reportOf(name, () =>
      run([
        ...(options.json ? ['--json'] : []),
        ...(takesPython && options.python ? ['--python', options.python] : []),
      ]),
    )
    for (const [client, tally] of Object.entries(report.clients)) clients[`${name}: ${client}`] = tally
    const { passed, failed } = totalOf(report)
    options.say(`${failed === 0 ? '✓' : '✗'} ${name}: ${passed} passed, ${failed} failed`)
  }
  return { clients }
}

/** A program that could not run has failed, and the others run all the same. */
async function reportOf(name: string, run: () => Promise<Report | null>): Promise<Report> {
  try {
    return (await run()) ?? { clients: {} }
  } catch (error) {
    console.error(`${name} could not run: ${(error as Error).message}`)
    return { clients: { 'not run': { passed: 0, failed: 1 } } }
  }
}
