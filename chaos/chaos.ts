/** `pnpm chaos <name> [--seed N] [--quick] …`: runs a program of `programs`. Each ends with one line of JSON. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const PROGRAMS = join(import.meta.dirname, 'programs')
const names = readdirSync(PROGRAMS)
  .filter((file) => file.endsWith('.chaos.ts'))
  .map((file) => file.replace('.chaos.ts', ''))
const [name = '', ...options] = process.argv.slice(2)
if (!names.includes(name)) {
  const asked = name === '' ? 'No program was named.' : `There is no program ${name}.`
  console.error(`${asked} There is: ${names.join(', ')}.`)
  process.exit(2)
}
const program = spawn(process.execPath, [join(PROGRAMS, `${name}.chaos.ts`), ...options], { stdio: 'inherit' })
// Ctrl-C reaches the program too, which ends what it has started; this one waits for it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => program.kill(signal))
program.on('exit', (status) => {
  process.exitCode = status ?? 1
})
