import { colorsOf } from '@episodic/run/base/console'
import { type Logger, pino, stdTimeFunctions } from 'pino'

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Log extends Logger {
  /** Redacts a secret in all later entries. Session tokens and bearer tokens are redacted by their shape. */
  hide(secret: string): void
}

/**
 * Logs to a stream: JSON lines, or readable lines on a terminal. Each is written at once, so that a crash loses none.
 */
export function createLog(stream: NodeJS.WriteStream, level: LogLevel): Log {
  const secrets = new Set<string>()
  const format = stream.isTTY === true ? readableLine(stream) : (line: string) => line
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void stream.write(redact(format(line), secrets)) },
  )
  return Object.assign(logger, { hide: (secret: string) => void secrets.add(secret) })
}

interface Entry {
  readonly time: string
  readonly level: string
  readonly msg?: string
  readonly pid: number
  readonly err?: { readonly stack?: string; readonly message?: string }
}

function readableLine(stream: NodeJS.WriteStream): (line: string) => string {
  const { dim, red, yellow } = colorsOf(stream)
  const paint: Readonly<Record<string, (text: string) => string>> = { fatal: red, error: red, warn: yellow }
  return (line) => {
    const { time, level, msg = '', pid: _, err, ...facts } = JSON.parse(line) as Entry
    const details = Object.entries(facts).map(([name, value]) => ` ${dim(`${name}=`)}${shown(value)}`)
    const cause = err ? `\n${err.stack ?? err.message}` : ''
    return `${dim(time.slice(11, 19))} ${(paint[level] ?? dim)(level.padEnd(5))} ${msg}${details.join('')}${cause}\n`
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The shapes of secrets: session tokens, JSON Web Tokens, and bearer tokens. */
const SHAPES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(ctl|cap|sct|ply|inv|mcp)_[\w.-]{22,}/g, '$1_[hidden]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[hidden]'],
  [/\b(bearer) +[\w.~+/=-]+/gi, '$1 [hidden]'],
]

export function redact(text: string, known: Iterable<string> = []): string {
  for (const secret of known) text = text.replaceAll(secret, '[hidden]')
  for (const [pattern, replacement] of SHAPES) text = text.replace(pattern, replacement)
  return text
}
