import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the whole workspace. */
export const root: string = join(import.meta.dirname, '..')

/** One package of the workspace. */
export interface Room {
  readonly name: string
  readonly version: string
  /** Where it lives, from the root: `packages/state`. */
  readonly folder: string
  /** Private rooms are never packed or published. */
  readonly private: boolean
  readonly scripts: Readonly<Record<string, string>>
  /** Each entry and its source file, from the root: `@episodic/state/sqlite` and `packages/state/src/sqlite.ts`. */
  readonly entries: ReadonlyMap<string, string>
}

/** Lists every package of the workspace, sorted by folder. */
export function listRooms(): Room[] {
  return globSync('{packages,satellites,apps,examples}/*/package.json', { cwd: root })
    .sort()
    .map((file) => readRoom(dirname(file)))
}

/** Lists the packages that are published. */
export function listPublished(): Room[] {
  return listRooms().filter((room) => !room.private)
}

/** Says which file `pnpm pack` writes for a package. */
export function tarballOf({ name, version }: Room): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** The `pnpm` that the workspace asks for: the one that runs this program already, or else one that npx brings. */
export function pnpm(...args: string[]): [string, ...string[]] {
  const { npm_config_user_agent: agent = '' } = process.env
  if (agent.startsWith('pnpm/')) return ['pnpm', ...args]
  return ['npx', '--yes', readJson('package.json').packageManager, ...args]
}

/** Reads a JSON file of the workspace; the caller knows its shape. */
// biome-ignore lint/suspicious/noExplicitAny: manifests are ours, and a wrong one fails the checks that read it.
export function readJson(file: string): any {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function readRoom(folder: string): Room {
  const { name, version, scripts = {}, exports = {}, ...manifest } = readJson(join(folder, 'package.json'))
  const entries = Object.entries(exports as Record<string, string>).map(
    ([entry, source]) => [join(name, entry), join(folder, source)] as const,
  )
  return { name, version, folder, private: manifest.private === true, scripts, entries: new Map(entries) }
}
