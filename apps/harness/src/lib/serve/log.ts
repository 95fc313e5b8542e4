import { type Logger, pino, stdTimeFunctions } from 'pino'
import { colorsOf } from '../console.ts'
import { redact } from './redact.ts'

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a server tells its operator. */
export interface Log extends Logger {
  /** Hides a secret from here on, wherever it comes up. Handles and bearer tokens are hidden without being known. */
  hide(secret: string): void
}

/** Logs to a stream: JSON lines, or for a terminal a line that a person reads. Written at once, so that a crash loses none. */
export function createLog(stream: NodeJS.WriteStream, level: LogLevel): Log {
  const secrets = new Set<string>()
  const format = stream.isTTY === true ? personsLine(stream) : (line: string) => line
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

function personsLine(stream: NodeJS.WriteStream): (line: string) => string {
  const { dim, red, yellow } = colorsOf(stream)
  const paint: Readonly<Record<string, (text: string) => string>> = { fatal: red, error: red, warn: yellow }
  return (line) => {
    const { time, level, msg = '', pid: _, err, ...facts } = JSON.parse(line) as Entry
    const told = Object.entries(facts).map(([name, value]) => ` ${dim(`${name}=`)}${shown(value)}`)
    const cause = err ? `\n${err.stack ?? err.message}` : ''
    return `${dim(time.slice(11, 19))} ${(paint[level] ?? dim)(level.padEnd(5))} ${msg}${told.join('')}${cause}\n`
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
