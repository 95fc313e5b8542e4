import { readFileSync } from 'node:fs'
import { KINDS, type KindName } from './kinds.ts'

/** The folder of this package: its code is in `src/lib`, or in `dist` once it is built. */
const OWN = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url)

/** Where the templates are. */
export const TEMPLATES = new URL('templates/', OWN)

const { version: ownVersion, devDependencies } = readManifest(OWN)

/** Returns the `package.json` of a project. */
export function packageFile(name: string, kind: KindName): string {
  const dependencies = ['episodic', 'zod', ...KINDS[kind].needs]
  const development = ['@types/node', 'typescript', 'vitest']
  return `${JSON.stringify(
    {
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      engines: { node: '>=22.18' },
      scripts: {
        test: `tsc && vitest run && episodic check world.ts --quick --only ${KINDS[kind].checks.join(',')}`,
        check: 'episodic check world.ts',
        play: 'episodic play world.ts',
        start: 'episodic run world.ts --policy solver --tasks 100',
        serve: 'episodic serve world.ts',
        dev: 'episodic serve world.ts --watch',
        view: 'episodic view',
      },
      dependencies: versions(dependencies),
      devDependencies: versions(development),
    },
    null,
    2,
  )}\n`
}

function versions(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.toSorted().map((name) => [name, `^${versionOf(name)}`]))
}

/**
 * The version that this package was tested with. All packages of Episodic have one version. In a clone of its source,
 * others have the one that is installed beside it.
 */
function versionOf(name: string): string {
  if (/^(@episodic\/|episodic$)/.test(name)) return ownVersion
  const version = /\d.*/.exec(devDependencies[name] ?? '')?.[0]
  return version ?? readManifest(new URL(`node_modules/${name}/`, OWN)).version
}

function readManifest(folder: URL): {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
} {
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
}
