/**
 * `pnpm bench`: runs every benchmark, `pnpm bench <name> [options]`: one, with options of its own. Each ends with one
 * line of JSON, its figures.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
const given = process.argv.slice(2)
const firstOption = given.findIndex((argument) => argument.startsWith('-'))
const asked = firstOption < 0 ? given : given.slice(0, firstOption)
const options = given.slice(asked.length)
const unknown = asked.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There is: ${names.join(', ')}.`)
  process.exit(2)
}
console.error(
  `${availableParallelism()} cores of ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()
    .map((load) => load.toFixed(2))
    .join(' ')}`,
)
// A process each, so that none inherits another's heap or compiled code.
for (const name of asked.length > 0 ? asked : names) {
  const file = `${import.meta.dirname}/${name}.bench.ts`
  const { status } = spawnSync(process.execPath, ['--expose-gc', file, ...options], { stdio: 'inherit' })
  // 2 for an option that is wrong, 1 for a figure that misses its bar, or a crash.
  process.exitCode = Math.max(Number(process.exitCode ?? 0), status ?? 1)
}
