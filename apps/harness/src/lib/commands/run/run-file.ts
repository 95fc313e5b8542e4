import { existsSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { shownPath } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { readTextOrFile, textOrFile } from '@episodic/run/base/option-values'
import { type OptionField, optionFields, toFileValue, toFlag } from '@episodic/run/base/options'
import { policyFileOf } from '@episodic/run/base/player-names'
import { readTextFile } from '@episodic/run/base/text-file'
import type { Command } from 'commander'
import { z } from 'zod'
import { RUN_OPTIONS } from './run-options.ts'

/** Options of one start of a run, and a secret. */
const OF_COMMAND: readonly string[] = ['file', 'resume', 'retryFailed', 'json', 'dryRun', 'token']

const MOST_PROBLEMS = 5

const options = Object.values(RUN_OPTIONS).flatMap(optionFields)
const keys = options.filter(({ name, isHidden }) => !isHidden && !OF_COMMAND.includes(name))

/** The content of a file of a run: what `--file` reads, and what `--dry-run --json` prints. */
export const runFileSchema = z.strictObject(
  {
    $schema: z.string().describe('for editors: the address of this schema').optional(),
    worlds: z.array(z.string().min(1)).describe('names, paths or packages of the worlds').optional(),
    ...Object.fromEntries(keys.map(({ name, inner, help }) => [name, inner.describe(help).optional()])),
    planned: z.unknown().describe('what --dry-run prints of the runs; it is not read').optional(),
  },
  {
    error: ({ code, keys: unknown }) => (code === 'unrecognized_keys' ? unknown.map(sayUnknown).join(' ') : undefined),
  },
)

export function isGiven(run: Command, name: string): boolean {
  return ['cli', 'config'].includes(run.getOptionValueSource(name) ?? '')
}

/**
 * Gives a command the values of its files where its command line has none; those of a later file count. Returns its
 * worlds: those of the command line, or else of a file. Throws `option-invalid`, also for the flag of a key.
 */
export function readFiles(worlds: readonly string[], run: Command): readonly string[] {
  const flags = keys.filter(({ name, inFile }) => inFile && run.getOptionValueSource(name) === 'cli')
  if (flags.length > 0) {
    const given = Object.fromEntries(flags.map((key) => [key.name, toFileValue(key, run.getOptionValue(key.name))]))
    const names = flags.map(({ name, initial }) => toFlag(name, initial)).join(', ')
    throw invalidOption(
      `${names}: put ${JSON.stringify(given)} in a file, such as run.json, and pass --file run.json. episodic run --help lists the keys of the file.`,
    )
  }
  const files: readonly string[] = run.getOptionValue('file') ?? []
  const { worlds: named = [], ...values } = Object.assign({}, ...files.map(readRunFile)) as Record<string, unknown>
  for (const [name, value] of Object.entries(values))
    if (run.getOptionValueSource(name) !== 'cli') run.setOptionValueWithSource(name, value, 'config')
  return worlds.length > 0 ? worlds : (named as readonly string[])
}

/** Returns the file of a run as it was given, with paths of the working folder. No address in it has a password. */
export function toRunFile(worlds: readonly string[], run: Command): Record<string, unknown> {
  const given = keys.filter(({ name }) => isGiven(run, name))
  const values = given.map((key) => [key.name, withoutSecret(key, toFileValue(key, run.getOptionValue(key.name)))])
  return { ...(worlds.length > 0 && { worlds }), ...Object.fromEntries(values) }
}

function readRunFile(given: string): Record<string, unknown> {
  const isText = given.trimStart().startsWith('{')
  const shown = isText ? '--file' : `--file ${given}`
  let content: unknown
  try {
    content = JSON.parse(isText ? given : readTextFile(given))
  } catch (cause) {
    throw invalidOption(`${shown} cannot be read as JSON: ${(cause as Error).message}`, { cause })
  }
  const { data, error } = runFileSchema.safeParse(content)
  if (error) {
    const problems = error.issues.slice(0, MOST_PROBLEMS).map((issue) => sayProblem(issue, content))
    throw invalidOption(`${shown} is not the file of a run. ${problems.join(' ')}`, { cause: error })
  }
  const { $schema: _, planned: __, ...values } = data as Record<string, unknown>
  const folder = isText ? '.' : dirname(given)
  try {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inFolder(folder, name, value)]))
  } catch (cause) {
    throw invalidOption(`${shown}: ${(cause as Error).message}`, { cause })
  }
}

function sayProblem({ path, message }: z.core.$ZodIssue, content: unknown): string {
  if (path.length === 0) return message
  const value = path.reduce<unknown>(
    (within, key) => (within as Record<PropertyKey, unknown> | undefined)?.[key],
    content,
  )
  return `"${path.join('.')}" is ${(JSON.stringify(value) ?? 'missing').slice(0, 100)}: ${message.replace(/\.?$/, '.')}`
}

function sayUnknown(key: string): string {
  const isFlag = OF_COMMAND.includes(key)
  if (isFlag) return `"${key}" is of the command line alone: give ${toFlag(key)}, and leave it out here.`
  const meant = key.replace(/^-+/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return meant !== key && keys.some(({ name }) => name === meant)
    ? `There is no key "${key}": write "${meant}".`
    : `There is no key "${key}". episodic run --help lists the options, whose names are the keys.`
}

/** Returns a value with the paths in it for the working folder. They are relative to the folder of the file. */
function inFolder(folder: string, name: string, value: unknown): unknown {
  const path = (text: string) =>
    relative('', folder) === '' || isAbsolute(text) ? text : shownPath(resolve(folder, text))
  const policy = (text: string) => {
    const [kind = ''] = /^(script|agent):/.exec(text) ?? []
    return policyFileOf(text) === null ? text : `${kind}${path(text.slice(kind.length))}`
  }
  const world = (text: string) => (/^\.{1,2}[/\\]/.test(text) || existsSync(resolve(folder, text)) ? path(text) : text)
  const key = keys.find((each) => each.name === name)
  if (name === 'worlds') return (value as readonly string[]).map(world)
  if (name === 'policy') return (value as readonly string[]).map(policy)
  if (name === 'seat')
    return Object.fromEntries(Object.entries(value as Record<string, string>).map(([seat, own]) => [seat, policy(own)]))
  if (typeof value !== 'string') return value
  if (key?.text === textOrFile) return readTextOrFile(/^@(?!@)/.test(value) ? `@${path(value.slice(1))}` : value)
  return name === 'tasks' || /^<(file|folder)>$/.test(key?.argument ?? '') ? path(value) : value
}

function withoutSecret({ argument }: OptionField, value: unknown): unknown {
  if (argument !== '<url>' || typeof value !== 'string') return value
  return value.replace(/(?<=\/\/)[^/?#]*@/, '').replace(/\?.*$/s, '')
}
