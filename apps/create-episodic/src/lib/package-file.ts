import { existsSync, readFileSync } from 'node:fs'
import { KINDS, type KindName } from './kinds.ts'

/** The folder of this package: its code is in `src/lib`, or in `dist` once it is built. */
const OWN = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url)

export const TEMPLATES = new URL('templates/', OWN)

/** Returns the text of a template, with values in the place of `{{name}}`. */
export function template(path: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(new URL(path, TEMPLATES), 'utf8')
  return text.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name] ?? '')
}

/** Returns how the packages are installed while they are not published; an empty text once they are. */
export function unpublished(): string {
  return existsSync(new URL('unpublished.md', TEMPLATES)) ? template('unpublished.md') : ''
}

type Texts = Readonly<Record<string, string>>

export type Manifest = { readonly [field in 'scripts' | 'dependencies' | 'devDependencies' | 'overrides']?: Texts } & {
  readonly type?: string
  readonly version?: string
}

/**
 * Returns the `package.json` of a project of `kind`: the given one, if there is one, with what it lacks. What it has
 * stays; a script whose name is taken is added as `<name>:world`.
 */
export function packageFile(given: Manifest | null, kind: KindName, values: Texts) {
  const { scripts: own, overrides, ...fields } = JSON.parse(template('shared/manifest.json', values))
  const scripts: Record<string, string> = { ...given?.scripts }
  for (const [name, command] of Object.entries<string>(own)) {
    const { [name]: taken = command } = scripts
    scripts[taken === command || /no test specified/.test(taken) ? name : `${name}:world`] = command
  }
  const there = { ...given?.dependencies, ...given?.devDependencies }
  const withLacking = (had: Texts = {}, ...names: readonly string[]): Texts => ({
    ...had,
    ...Object.fromEntries(names.filter((name) => !Object.hasOwn(there, name)).map(versionOf)),
  })
  return {
    ...(given ?? fields),
    type: 'module',
    scripts,
    ...(kind === 'workspace' && { overrides: { ...overrides, ...given?.overrides } }),
    dependencies: withLacking(given?.dependencies, ...KINDS[kind].needs, 'episodic', 'zod'),
    devDependencies: withLacking(given?.devDependencies, '@types/node', 'typescript', 'vitest'),
  }
}

const { version: ownVersion, devDependencies } = readManifest(OWN)

/**
 * The version that this package was tested with. All packages of Episodic have one version. In a clone of its source,
 * others have the one that is installed beside it.
 */
function versionOf(name: string): readonly [name: string, range: string] {
  if (/^(@episodic\/|episodic$)/.test(name)) return [name, `^${ownVersion}`]
  const tested = /\d.*/.exec(devDependencies?.[name] ?? '')?.[0]
  return [name, `^${tested ?? readManifest(new URL(`node_modules/${name}/`, OWN)).version}`]
}

function readManifest(folder: URL): Manifest {
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
}
