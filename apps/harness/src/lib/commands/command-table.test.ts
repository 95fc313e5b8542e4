import { type Command, InvalidArgumentError, type Option } from 'commander'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from './command-table.ts'

/** Every option that reads a text, of every command and of the commands within it. */
async function listOptions(): Promise<[name: string, option: Option][]> {
  const within = (command: Command, path: string): [string, Option][] => [
    ...command.options.flatMap((option): [string, Option][] =>
      option.parseArg ? [[`${path} ${option.flags}`, option]] : [],
    ),
    ...command.commands.flatMap((inner) => within(inner, `${path} ${inner.name()}`)),
  ]
  const lists = Object.entries(COMMANDS).map(async ([name, { load }]) =>
    within((await load())({ out: process.stdout, err: process.stderr }), name),
  )
  return (await Promise.all(lists)).flat()
}

/** Texts like those that people type by mistake where a number, a range or a name is asked for. */
const anyText = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-3',
    '1.5',
    '1e3',
    '1e400',
    'NaN',
    'Infinity',
    '0x10',
    '',
    ' ',
    '-',
    '..',
    '=',
    'a=',
    '@',
  ),
  fc.integer().map(String),
  fc.double().map(String),
  fc.string(),
)

describe('the options of all commands', async () => {
  it.each(await listOptions())('read any text, or refuse it in one line: %s', (_, option) => {
    fc.assert(
      fc.property(anyText, (text) => {
        let value: unknown
        try {
          value = option.parseArg?.(text, option.defaultValue as never)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidArgumentError)
          expect((error as Error).message).toMatch(/^.*\S.*$/)
          return
        }
        // No number of a command is negative, and JSON has neither of these two.
        if (typeof value === 'number') expect(Number.isFinite(value) && value >= 0).toBe(true)
      }),
      { seed: 1, numRuns: 200 },
    )
  })
})
