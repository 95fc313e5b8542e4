import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Grader } from '@episodic/report/grades/grader'
import { HarnessError } from '@episodic/run/base/harness-error'
import { importModule } from '@episodic/run/base/import-module'

/** The exports of a world module: an environment, and its tasks, policies and graders. */
export interface World {
  /** The `file:` URL of its module. */
  readonly url: string
  readonly environment: EnvironmentDefinition
  /** Generates tasks. `null`: tasks have the default parameters, and different seeds. */
  readonly tasks: TasksDefinition | null
  readonly solver: Policy | null
  readonly policies: Readonly<Record<string, Policy>>
  readonly graders: Readonly<Record<string, Grader>>
}

export const SHELVES: readonly string[] = ['examples', 'worlds']

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.jsonl']

/**
 * Loads a world by a path to a module, to a recording or to a package's folder, by a bare name (a folder, a module or a
 * recording under `examples/` or `worlds/`), by the name of an installed package, or by the name of one of the worlds
 * of `@episodic/classics` and `@episodic/benchmarks`.
 *
 * Rejects with `world-not-found`, naming the known ones, and with `world-invalid`; if the module throws, with the
 * frames of its own code.
 */
export async function loadWorld(reference: string, folder = process.cwd()): Promise<World> {
  const file = locate(reference, folder)
  if (!file) {
    const names = SHELVES.flatMap((shelf) => namesUnder(join(folder, shelf)))
    const known = names.length > 0 ? ` There is: ${names.join(', ')}.` : ''
    throw new HarnessError(
      'world-not-found',
      `There is no world "${reference}".${known} Give a name, a path to a module that exports one, or an installed package.`,
    )
  }
  const load = /\.jsonl?$/.test(file) ? () => openRecording(file) : undefined
  const module = await importModule(file, 'world-invalid', `The world ${reference} (${file})`, load)
  return { url: pathToFileURL(file).href, ...(await readWorld(module, reference)) }
}

async function openRecording(file: string): Promise<Record<string, unknown>> {
  const { defineMcpEnvironment, tasksFromFile } = await import('@episodic/mcp-worlds')
  const environment = await defineMcpEnvironment({ recording: file })
  return { environment, tasks: tasksFromFile(environment, file) }
}

async function readWorld(module: Record<string, unknown>, reference: string): Promise<Omit<World, 'url'>> {
  const { environment, tasks = null, solver = null, policies = {}, graders = {} } = module
  if (!isEnvironment(environment))
    throw new HarnessError(
      'world-invalid',
      `${reference} exports no "environment" made by defineEnvironment. ${adviceFor(module)}`,
    )
  const named = { ...(policies as Record<string, unknown>), ...(solver === null ? {} : { solver }) }
  for (const [name, policy] of Object.entries(named))
    if (!isPolicy(policy))
      throw new HarnessError(
        'world-invalid',
        `${reference} exports a "${name}" that is not a policy made by definePolicy.`,
      )
  const grading = Object.values(graders as Record<string, unknown>)
  // What computes figures is large, and most worlds have no graders.
  if (grading.length > 0 && !grading.every((await import('@episodic/report/grades/grader')).isGrader))
    throw new HarnessError('world-invalid', `${reference} exports "graders" that are not all made by defineGrader.`)
  return { environment, tasks, solver, policies, graders: byName(grading as Grader[]) } as Omit<World, 'url'>
}

function adviceFor({ environment, default: own, ...others }: Record<string, unknown>): string {
  if (environment instanceof Promise)
    return 'What it exports is a promise: write `export const environment = await defineMcpEnvironment({ … })`.'
  if (isEnvironment(own)) return 'Its default export is one: export it by its name, as `export const environment = …`.'
  const [name] = Object.entries(others).find(([, value]) => isEnvironment(value)) ?? []
  if (name !== undefined) return `Its export "${name}" is one: export it as "environment", too.`
  return 'Write `export const environment = defineEnvironment({ … })`.'
}

function byName(graders: readonly Grader[]): World['graders'] {
  return Object.fromEntries(graders.map((grader) => [grader.name, grader]))
}

function isEnvironment(value: unknown): value is EnvironmentDefinition {
  return typeof value === 'object' && value !== null && 'toolInfos' in value && 'start' in value
}

export function isPolicy(value: unknown): value is Policy {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Policy>).start === 'function'
}

function locate(reference: string, folder: string): string | null {
  const file = entryIn(resolve(folder, reference)) ?? locateOnShelf(reference, folder)
  return file ?? resolvePackage(reference, folder) ?? resolveNamed(reference, folder)
}

function locateOnShelf(name: string, folder: string): string | null {
  for (const shelf of SHELVES)
    for (const extension of ['', ...EXTENSIONS]) {
      const file = entryIn(resolve(folder, shelf, `${name}${extension}`))
      if (file) return file
    }
  return null
}

/**
 * Returns the module of a world by its bare name: under `examples/` or `worlds/` of a folder, or one of the classics.
 * `null` if there is none, or if what is given is no bare name.
 */
export function locateByName(name: string, folder = process.cwd()): string | null {
  if (!/^[a-z\d][\w.@-]*$/i.test(name)) return null
  return locateOnShelf(name, folder) ?? resolveNamed(name, folder)
}

/**
 * The packages whose worlds are found by their names alone, such as `taxi` and `tau2/airline`: the folder's own, or
 * else one that is installed beside the command.
 */
const OF_NAMES = ['@episodic/classics', '@episodic/benchmarks']

function resolveNamed(reference: string, folder: string): string | null {
  const names = reference.startsWith('@') ? [reference] : OF_NAMES.map((name) => `${name}/${reference}`)
  for (const name of names) {
    const file = resolvePackage(name, folder) ?? resolvePackage(name, import.meta.dirname)
    if (file) return file
  }
  return null
}

/** Returns the module that a package exports by a name, as a module of a folder imports it; `null` for none. */
export function resolvePackage(name: string, folder: string): string | null {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name)
  } catch {
    return null
  }
}

function entryIn(place: string): string | null {
  if (!existsSync(place)) return null
  if (!statSync(place).isDirectory()) return place
  const manifest = join(place, 'package.json')
  const named = existsSync(manifest) ? mainOf(JSON.parse(readFileSync(manifest, 'utf8'))) : null
  const files = [named, 'src/index.ts', 'index.ts', 'index.js', 'dist/index.js'].filter((file) => file !== null)
  return files.map((file) => join(place, file)).find((file) => existsSync(file)) ?? null
}

function mainOf(manifest: { exports?: unknown; main?: unknown }): string | null {
  const root = (manifest.exports as Record<string, unknown> | undefined)?.['.'] ?? manifest.exports ?? manifest.main
  const target = typeof root === 'object' && root !== null ? (root as Record<string, unknown>).default : root
  return typeof target === 'string' ? target : null
}

function namesUnder(shelf: string): string[] {
  return existsSync(shelf) ? readdirSync(shelf).filter((name) => isWorldModule(entryIn(join(shelf, name)))) : []
}

function isWorldModule(file: string | null): boolean {
  return file !== null && /\.[cm]?[jt]s$/.test(file) && EXPORTS_ENVIRONMENT.test(readFileSync(file, 'utf8'))
}

const EXPORTS_ENVIRONMENT =
  /export\s+(?:\*|(?:const|let|var)\s+environment\b|(?:const\s*)?\{[^}]*\benvironment\b)|export\{[^}]*\benvironment\b/
