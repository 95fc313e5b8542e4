import { relative, resolve } from 'node:path'
import { createColors } from 'picocolors'

/** The output of a command: results go to `out`, everything else to `err`. */
export interface Console {
  readonly out: NodeJS.WriteStream
  readonly err: NodeJS.WriteStream
}

export const processConsole: Console = { out: process.stdout, err: process.stderr }

/** Returns the colors of a stream: none if it is not a terminal, or if NO_COLOR is set. */
export function colorsOf(stream: NodeJS.WriteStream) {
  return createColors(usesColor(stream))
}

export function usesColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR
}

/** Returns a path relative to the working folder if it is inside, and absolute otherwise. */
export function shownPath(path: string): string {
  const short = relative('', path)
  return short.startsWith('..') ? path : short || '.'
}

/** Aligns rows into columns, the first row as a heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/**
 * Returns this command line with `--resume` and the folder of the run as `--out`, quoted for a POSIX shell. A folder
 * that was given with `--resume` is left out, and so is `--token`.
 *
 * @param raise - an option in the place of the one that was given. Default: none.
 */
export function resumeCommand(folder: string, raise: readonly string[] = []): string {
  const words = withoutToken(process.argv.slice(2))
  const given = words.filter(
    (word, i) => word !== '--resume' && !(words[i - 1] === '--resume' && resolve(word) === resolve(folder)),
  )
  const out = given.some((word) => word === '--out' || word.startsWith('--out=')) ? [] : ['--out', shownPath(folder)]
  return commandLine([...withOption(given, raise), ...out, '--resume'])
}

/**
 * Returns this command line as it was given, without `--token`: the secret of a server, which EPISODIC_TOKEN may hold.
 */
export function sameCommand(raise: readonly string[] = []): string {
  return commandLine(withOption(withoutToken(process.argv.slice(2)), raise))
}

/** Returns the words of a command line with an option in the place of the one that they give, or after them. */
export function withOption(words: readonly string[], [option, ...values]: readonly string[]): string[] {
  if (option === undefined) return [...words]
  const others = words.filter((word, i) => word !== option && words[i - 1] !== option && !word.startsWith(`${option}=`))
  return [...others, option, ...values]
}

function withoutToken(words: readonly string[]): string[] {
  return words.filter((word, i) => words[i - 1] !== '--token' && !/^--token(=|$)/.test(word))
}

/** Returns a command line of `episodic`, quoted for a POSIX shell. */
export function commandLine(words: readonly string[]): string {
  return ['episodic', ...words]
    .map((word) => (/^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}
