import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KINDS, type KindName } from './kinds.ts'
import { packageFile, TEMPLATES } from './package-file.ts'

/** Why a project could not be created: what is true, and what to do. */
export class CreateError extends Error {}

/**
 * Writes a project with a world, its tests, and what checks them in CI, into a folder that is new or empty. Installs
 * nothing. Returns the paths of the files, relative to the folder.
 *
 * Throws `CreateError` if files are there already: none is written then.
 */
export function createProject(folder: string, kind: KindName): readonly string[] {
  const place = resolve(folder)
  const files = filesOf(place, kind)
  const taken = existsSync(place) ? readdirSync(place).filter((name) => name !== '.git') : []
  if (taken.length > 0)
    throw new CreateError(
      `${place} is not empty: it has ${taken.slice(0, 3).join(', ')}${taken.length > 3 ? ', …' : ''}. Name a folder that is new.`,
    )
  for (const [path, text] of files) {
    makeFolder(dirname(join(place, path)))
    writeFileSync(join(place, path), text)
  }
  return files.map(([path]) => path)
}

/** Returns what to print when a project was created: its files, and the commands that come next. */
export function nextSteps(folder: string, files: readonly string[]): string {
  const place = relative(process.cwd(), folder)
  const steps = [...(place === '' ? [] : [`cd ${place}`]), 'npm install', 'npm test', 'npm run play']
  return `Created ${files.join(', ')}.\n\nNext:\n\n${steps.map((step) => `  ${step}\n`).join('')}`
}

/** Makes a folder and those above it. The `recursive` of Node never returns below a folder such as `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (cause) {
    throw new CreateError(`Cannot make ${folder}: ${(cause as Error).message}`, { cause })
  }
}

/** The project's name from that of its folder: small letters, digits and hyphens. */
function toName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name || 'my-world'
}

function filesOf(place: string, kind: KindName): readonly (readonly [path: string, text: string])[] {
  const name = toName(place)
  const template = (path: string) => readFileSync(fileURLToPath(new URL(path, TEMPLATES)), 'utf8')
  const { description, checks } = KINDS[kind]
  const filled = (text: string) =>
    text.replaceAll('{{name}}', name).replaceAll('{{kind}}', description).replaceAll('{{checks}}', checks.join(' and '))
  return [
    ['package.json', packageFile(name, kind)],
    ['world.ts', template(`${kind}/world.ts`)],
    ['world.test.ts', template(`${kind}/world.test.ts`)],
    ['README.md', filled(template('shared/README.md'))],
    ['AGENTS.md', template('shared/AGENTS.md')],
    ['tsconfig.json', template('shared/tsconfig.json')],
    // npm leaves a file of this name out of a package.
    ['.gitignore', template('shared/gitignore')],
    ['.github/workflows/test.yml', template('shared/test.yml')],
    ['.vscode/launch.json', template('shared/launch.json')],
  ]
}
