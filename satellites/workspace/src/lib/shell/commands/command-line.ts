import { parseArgs } from 'node:util'
import { type Command, defineCommand, type ResolvedCommandContext } from 'just-bash'

export type Result = Awaited<ReturnType<Command['execute']>>

export function said(stdout: string, exitCode = 0, stderr = ''): Result {
  return { stdout, stderr, exitCode }
}

export function failed(stderr: string, exitCode = 1): Result {
  return { stdout: '', stderr: `${stderr}\n`, exitCode }
}

/** The options and operands that a command was given. */
interface ParsedOptions {
  readonly operands: readonly string[]
  has(letter: string): boolean
  value(letter: string): string | undefined
}

/**
 * Defines a command with options of one letter, such as `al:`, which a colon follows if it takes a value. `long` has
 * the letters of long options. With `leading`, options come before the operands alone.
 */
export function command(
  name: string,
  letters: string,
  run: (given: ParsedOptions, context: ResolvedCommandContext) => Promise<Result> | Result,
  long: Readonly<Record<string, string>> = {},
  { leading = false }: { readonly leading?: boolean } = {},
): Command {
  const short = [...letters.matchAll(/([^:])(:?)/g)].map(([, letter = '', takes]) => [letter, takes === ':'] as const)
  const takesValue = new Map(short)
  const options = Object.fromEntries(
    short.map(([letter, takes]) => [
      `letter-${letter}`,
      { type: takes ? ('string' as const) : ('boolean' as const), short: letter },
    ]),
  )
  return defineCommand(name, async (args, context) => {
    const given = args.map((arg, index) => {
      const [, word = '', value] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? []
      const letter = long[word]
      if (/^-[1-9]\d*$/.test(arg) && takesValue.get('n') && !takes(args[index - 1])) return `-n${arg.slice(1)}`
      return letter === undefined ? arg : `-${letter}${value ?? ''}`
    })
    // A value may begin with a dash, such as -2.
    for (let i = given.length - 2; i >= 0; i--)
      if (takes(given[i]) && /^-\d/.test(given[i + 1] ?? '')) given.splice(i, 2, `${given[i]}${given[i + 1]}`)
    let parsed: ReturnType<typeof parseArgs>
    try {
      parsed = parseArgs({ args: leading ? withoutRest(given) : given, options, allowPositionals: true })
    } catch {
      const wrong =
        given.find((arg) => /^-./.test(arg) && !takesValue.has(arg.charAt(1))) ??
        given.find((arg) => arg.startsWith('-'))
      return failed(
        `${name}: invalid option -- '${wrong?.replace(/^-+/, '') ?? ''}'`,
        name === 'ls' || name === 'diff' ? 2 : 1,
      )
    }
    const { values, positionals } = parsed

    /** Ends the options before the first operand: what follows it belongs to it. */
    function withoutRest(all: readonly string[]): string[] {
      const first = all.findIndex((arg, index) => !arg.startsWith('-') && !takes(all[index - 1]))
      return first < 0 ? [...all] : [...all.slice(0, first), '--', ...all.slice(first)]
    }

    function takes(arg = ''): boolean {
      return /^-.$/.test(arg) && takesValue.get(arg.charAt(1)) === true
    }

    return run(
      {
        operands: positionals,
        has: (letter) => values[`letter-${letter}`] === true,
        value: (letter) => values[`letter-${letter}`] as string | undefined,
      },
      context,
    )
  })
}

/** Returns the standard input of a command. */
export function stdinBytes({ stdin }: ResolvedCommandContext): Uint8Array {
  return Buffer.from(stdin as unknown as string, 'latin1')
}

/** Bytes that a command makes at most: a disk refuses what is larger than it, but only once it has it. */
export const MOST_BYTES = 64 * 1_048_576

/** Bytes of each unit that a size may have. */
const UNITS: Readonly<Record<string, number>> = { K: 1_024, k: 1_024, M: 1_048_576, G: 1_073_741_824 }

/** Returns the bytes of a size such as `10K`; NaN for anything else. */
export function sizeOf(text: string): number {
  const [, digits, unit = ''] = /^(-?\d+)([KkMG]?)(?:i?B)?$/.exec(text) ?? []
  return digits === undefined ? Number.NaN : Number(digits) * (UNITS[unit] ?? 1)
}

/** Writes a number of bytes as people read it, such as `4.0K`: rounded up. */
export function humanSize(bytes: number): string {
  if (bytes < 1_024) return String(bytes)
  let size = bytes
  let unit = -1
  while (size >= 1_024) {
    size /= 1_024
    unit += 1
  }
  return `${size < 10 ? (Math.ceil(size * 10) / 10).toFixed(1) : Math.ceil(size)}${'KMGT'[unit]}`
}

/** Returns the standard input of a command as a text. */
export function stdinOf(context: ResolvedCommandContext): string {
  return Buffer.from(stdinBytes(context)).toString()
}

/** Reads a file of a command's operands, or standard input for `-`. Rejects for a file that is not there. */
export async function readInput(path: string, context: ResolvedCommandContext): Promise<string> {
  return path === '-' ? stdinOf(context) : context.fs.readFile(context.fs.resolvePath(context.cwd, path))
}

/** Returns the lines of a text, without their line feeds. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
