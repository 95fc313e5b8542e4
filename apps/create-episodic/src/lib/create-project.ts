import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { KINDS, type KindName } from './kinds.ts'
import { type Manifest, packageFile, TEMPLATES, template, unpublished } from './package-file.ts'

/** Why a project could not be created: what is true, and what to do. */
export class CreateError extends Error {}

/**
 * Writes a project with a world, its tests, and what checks them in CI, into a folder. Files that are there stay as
 * they are, but for `package.json` and `.gitignore`, to which is added what they lack. Installs nothing. Returns the
 * paths of the files, relative to the folder, by what became of them, and the names of scripts in `package.json`.
 *
 * Throws `CreateError` if the folder has a world already, or a project whose files are not ES modules, or cannot be
 * written. In the first two cases nothing is written.
 */
export function createProject(folder: string, kind: KindName) {
  const place = resolve(folder)
  const at = (path: string) => join(place, path)
  const has = (path: string) => existsSync(at(path))
  const read = (path: string) => (has(path) ? trying('read', at(path), () => readFileSync(at(path), 'utf8')) : '')
  if (has('world.ts')) throw new CreateError(`${place} has a world.ts already. Name another folder.`)
  const given: Manifest | null = has('package.json')
    ? trying('read', at('package.json'), () => JSON.parse(read('package.json').replace(/^\uFEFF/, '')))
    : null
  const [code] = given && given.type !== 'module' ? globSync('{*,*/*}.{js,jsx,ts,tsx}', { cwd: place }) : []
  if (code !== undefined)
    throw new CreateError(
      `${code} is no ES module ("type" in package.json is not "module"), and a world is one. Name a new folder, such as ${join(folder, 'world')}.`,
    )
  // That of a project may compile its own files in another way.
  const [tsconfig, included] = has('tsconfig.json') ? ['tsconfig.world.json', 'world*.ts'] : ['tsconfig.json', '*.ts']
  const values = { name: toName(place), kind: KINDS[kind].description, checks: KINDS[kind].checks.join(' and ') }
  const manifest = packageFile(given, kind, { ...values, tsconfig, checks: KINDS[kind].checks.join() })
  const merged = new Map([
    ['package.json', `${JSON.stringify(manifest, null, /^[ \t]+/m.exec(read('package.json'))?.[0] ?? 2)}\n`],
    // npm leaves a file of this name out of a package.
    ['.gitignore', withLines(read('.gitignore'), template('shared/gitignore').trim())],
  ])
  const files = new Map([
    ...readdirSync(new URL(kind, TEMPLATES)).map((file) => [file, template(`${kind}/${file}`)] as const),
    ['README.md', template('shared/README.md', { ...values, unpublished: unpublished() })],
    ['AGENTS.md', template('shared/AGENTS.md')],
    [tsconfig, template('shared/tsconfig.json', { included })],
    ['.github/workflows/test.yml', template('shared/test.yml')],
    ['.vscode/launch.json', template('shared/launch.json')],
  ])
  const [created, changed, kept] = [[] as string[], [] as string[], [] as string[]]
  for (const [path, text] of [...merged, ...files]) {
    const list = !has(path) ? created : merged.has(path) && text !== read(path) ? changed : kept
    list.push(path)
    if (list === kept) continue
    makeFolder(dirname(at(path)))
    // A link to nothing is not followed.
    trying('write', at(path), () => writeFileSync(at(path), text, { flag: list === created ? 'wx' : 'w' }))
  }
  return { created, changed, kept, scripts: manifest.scripts }
}

/** A folder is ignored with or without its slash. */
function withLines(text: string, lines: string): string {
  const there = text.split(/\r?\n/).map((line) => line.replace(/\/$/, ''))
  const lacking = lines.split('\n').filter((line) => !there.includes(line.replace(/\/$/, '')))
  return lacking.length === 0 ? text : `${text.replace(/(?<=[^\n])$/, '\n')}${lacking.join('\n')}\n`
}

/** Makes a folder and those above it. The `recursive` of Node never returns below a folder such as `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  trying('make', folder, () => mkdirSync(folder))
}

function trying<T>(what: string, path: string, does: () => T): T {
  try {
    return does()
  } catch (cause) {
    throw new CreateError(`Cannot ${what} ${path}: ${(cause as Error).message}`, { cause })
  }
}

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }

/** npm allows small letters, digits and hyphens, and so many of them. */
function toName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþ]/g, (letter) => LETTERS[letter] as string)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replace(/^-+|-+$/g, '')
  return name || 'my-world'
}
