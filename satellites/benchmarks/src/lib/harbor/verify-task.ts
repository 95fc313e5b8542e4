import { createDisk, type Machine, type ReadOnlyDisk, runCommand } from '@episodic/workspace'
import { z } from 'zod'
import type { HarborTask } from './harbor-task.ts'

/** What a verifier leaves: named rewards, or one number, which counts as `reward`. */
export const rewards = z.record(z.string(), z.number())
export type Rewards = z.output<typeof rewards>

const number = z.string().trim().min(1).pipe(z.coerce.number())

const PLACE = createDisk({ '/logs/verifier': { directory: true } })

/** Prints the reward alone, after a word that says which file it is from. What tests print is no part of it. */
const SCRIPT = `bash /tests/test.sh > /logs/verifier/test-stdout.txt 2>&1 < /dev/null
for each in json txt; do
  if [ -f "/logs/verifier/reward.$each" ]; then echo $each; cat "/logs/verifier/reward.$each"; exit; fi
done
echo none; tail -c 1000 /logs/verifier/test-stdout.txt`

/**
 * Runs the tests of a task over the files of an agent, in a box of their own, and resolves with the reward that they
 * write. Their exit code says nothing. Rejects if they write none or no number: that is no reward of 0.
 */
export async function verifyTask(
  { name, tests, workdir, variables, seconds, network }: HarborTask,
  disk: ReadOnlyDisk,
  machine: Machine,
  signal: AbortSignal,
): Promise<Rewards> {
  // What an agent has left there is no reward.
  const handedIn = Object.fromEntries(Object.entries(disk).filter(([path]) => !/^\/(?:logs|tests)(?:\/|$)/.test(path)))
  const exported = Object.entries(variables).map(
    ([key, value]) => `export ${key}='${value.replaceAll("'", "'\\''")}'\n`,
  )
  const options = { machine, cwd: workdir, files: { ...PLACE, ...tests }, seconds, network, signal }
  const { stdout, stderr } = await runCommand(handedIn, exported.join('') + SCRIPT, options)
  const end = stdout.indexOf('\n')
  const [kind, text] = [stdout.slice(0, end), stdout.slice(end + 1)]
  try {
    if (kind === 'json') return rewards.parse(JSON.parse(text))
    if (kind === 'txt') return { reward: number.parse(text) }
  } catch (cause) {
    throw new Error(`The tests of ${name} wrote no reward but ${JSON.stringify(text.slice(0, 200))}.`, { cause })
  }
  throw new Error(`The tests of ${name} wrote no reward. They printed: ${`${text}${stderr}`.slice(0, 1_000)}`)
}
