import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const TRAIN = fileURLToPath(new URL('./train.ts', import.meta.url))

/** Runs the command in a process of its own, and returns the lines of JSON that it printed. */
async function train(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [TRAIN, ...args, '--json'])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('node src/train.ts', () => {
  it.each([
    ['kuhn-poker', 'reinforce'],
    ['frozen-lake', 'ppo'],
  ])('ends with the same parameters and the same curve in every process: %s, %s', async (world, algorithm) => {
    const args = [world, '--algorithm', algorithm, '--episodes', '64']
    const [first, second, other] = await Promise.all([train(...args), train(...args), train(...args, '--seed', '2')])
    expect(first.at(-1)?.parameters).toMatch(/^[0-9a-f]{64}$/)
    expect(second.at(-1)?.parameters).toBe(first.at(-1)?.parameters)
    expect(second.slice(0, -1)).toEqual(first.slice(0, -1))
    expect(other.at(-1)?.parameters).not.toBe(first.at(-1)?.parameters)
  })

  it.each([
    [['lake'], 'There is no world "lake".'],
    [['taxi', 'frozen-lake'], 'further words: frozen-lake'],
    [['taxi', '--sed', '2'], "Unknown option '--sed'"],
    [['taxi', '--algorithm', 'dqn'], 'There is no algorithm "dqn".'],
    [['taxi', '--episodes', 'many'], '--episodes is "many"'],
    [['taxi', '--figure', 'no such folder/curve.svg'], '--figure cannot be written'],
  ])('says in one line what is wrong, and trains nothing: %j', async (args, message) => {
    const failure = await train(...args).then(
      () => null,
      (error: { code: number; stdout: string; stderr: string }) => error,
    )
    expect(failure).toMatchObject({ code: 2, stdout: '' })
    expect(failure?.stderr).toContain(message)
    expect(failure?.stderr.trim().split('\n')).toHaveLength(1)
  })

  it('prints its usage with --help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [TRAIN, '--help'])
    expect(stdout).toContain('Usage: node examples/training/src/train.ts <world> [options]')
  })
})
