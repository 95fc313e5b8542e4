/** `pnpm interop <program> [options]`: plays with what others have written, in environments that it makes. */
import { runClients } from './clients.ts'
import { runFiles } from './files.ts'
import { runNemoGym } from './nemo-gym/run-nemo-gym.ts'
import { runOpenEnv } from './openenv.ts'
import { runOrs } from './ors/run-ors.ts'
import { runParity } from './parity/run-parity.ts'
import { runPythonPackage } from './python-package.ts'

const PROGRAMS = new Map<string, (args: readonly string[]) => Promise<number>>([
  ['clients', runClients],
  ['files', runFiles],
  ['nemo-gym', runNemoGym],
  ['ors', runOrs],
  ['openenv', runOpenEnv],
  ['parity', runParity],
  ['python', runPythonPackage],
])

const [name, ...args] = process.argv.slice(2)
try {
  const run = PROGRAMS.get(name ?? '')
  if (!run)
    throw new Error(`There is no program ${name ?? 'without a name'}. There are: ${[...PROGRAMS.keys()].join(', ')}.`)
  process.exitCode = await run(args)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
