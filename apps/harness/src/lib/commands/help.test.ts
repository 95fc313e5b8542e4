import type { Command } from 'commander'
import { afterAll, describe, expect, it } from 'vitest'
import { openWorkshop } from '../fixtures/episodic.fixture.ts'
import { COMMANDS } from './command-table.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** The words of every command, and of the commands within it. */
async function listCommands(): Promise<string[]> {
  const within = (command: Command, path: string): string[] => [
    path,
    ...command.commands.flatMap((inner) => within(inner, `${path} ${inner.name()}`)),
  ]
  const lists = Object.entries(COMMANDS).map(async ([name, { load }]) =>
    within((await load())({ out: process.stdout, err: process.stderr }), name),
  )
  return ['', ...(await Promise.all(lists)).flat()]
}

describe('episodic --help', async () => {
  it.each(await listCommands())('prints the golden file, 80 columns wide but for examples: %s', async (command) => {
    const { status, out } = await workshop.main([...command.split(' '), '--help'].filter(Boolean), {
      env: { COLUMNS: '80' },
    })
    expect(status).toBe(0)
    for (const line of out.split('\n').filter((line) => !line.startsWith('  episodic ')))
      expect(line.length).toBeLessThanOrEqual(80)
    await expect(out).toMatchFileSnapshot(`help/${command.replaceAll(' ', '-') || 'episodic'}.txt`)
  })
})
