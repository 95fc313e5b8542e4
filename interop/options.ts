import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Options that every program has. */
const COMMON = { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const

/**
 * Reads the command line of a program: `say` prints, except with `--json`. Prints `usage` and returns `null` for
 * `--help`. Throws for an option that the program does not have.
 */
export function readOptions<O extends ParseArgsOptionsConfig>(
  args: readonly string[],
  usage: string,
  own: O,
  { allowPositionals = false } = {},
) {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals, options: { ...own, ...COMMON } })
  const { json, help } = values as { readonly json: boolean; readonly help: boolean }
  if (help) {
    console.log(usage)
    return null
  }
  return { ...(values as ValuesOf<O>), json, positionals, say: json ? () => {} : console.log }
}

type ValuesOf<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: O }>>['values']
