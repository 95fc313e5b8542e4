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

export function shownPath(path: string): string {
  const short = relative('', path)
  return short.startsWith('..') ? path : short || '.'
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

export function withOption(words: readonly string[], [option, ...values]: readonly string[]): string[] {
  if (option === undefined) return [...words]
  const others = words.filter((word, i) => word !== option && words[i - 1] !== option && !word.startsWith(`${option}=`))
  return [...others, option, ...values]
}

function withoutToken(words: readonly string[]): string[] {
  return words.filter((word, i) => words[i - 1] !== '--token' && !/^--token(=|$)/.test(word))
}

export function commandLine(words: readonly string[]): string {
  return ['episodic', ...words]
    .map((word) => (/^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}

const raw = new WeakMap<object, NodeJS.WriteStream>()

/** Returns a stream that escapes control characters, but for colors, and commands to runners of CI as JSON does. */
export function printing(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  const hidden = stream.isTTY === true ? CONTROLS_OF_OTHERS : CONTROLS
  const write = (text: string, ...rest: []) =>
    stream.write(text.replace(hidden, escaped).replace(COMMAND, escaped), ...rest)
  const printed = Object.create(stream, { write: { value: write } }) as NodeJS.WriteStream
  raw.set(printed, stream)
  return printed
}

/** Returns the stream itself, for what is more than text: an editor of lines, a command to a runner, exported data. */
export function unfiltered(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return raw.get(stream) ?? stream
}

/** Writes a sentence as one line, whatever is in it. On a terminal it takes the place of a line of progress. */
export function say(stream: NodeJS.WriteStream, sentence: string): void {
  stream.write(`${stream.isTTY ? '\r\x1b[2K' : ''}${sentence.replace(/[^\S ]+/g, ' ')}\n`)
}

const CONTROLS = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu
const CONTROLS_OF_OTHERS = new RegExp(`(?!\\r|\\x1b\\[(?:\\d{1,3}(?:;\\d{1,3})*m|2K))${CONTROLS.source}`, 'gu')
const COMMAND = /(?<=^\s*):(?=:)|#(?=#(?:\[|vso\[))/gm

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
