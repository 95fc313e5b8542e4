import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { createDisk, type Disk, readFile } from '@episodic/workspace'
import { z } from 'zod'
import { LANGUAGES } from './languages.ts'

/** What is known of each published exercise: the SHA-256 of its files, and how many of its tests have to pass. */
export const publishedSchema = z.record(z.string(), z.tuple([z.string(), z.int()]))
export type Published = z.output<typeof publishedSchema>

const configSchema = z.object({
  files: z.object({ solution: z.array(z.string()), test: z.array(z.string()), example: z.array(z.string()) }),
})

export interface Exercise {
  readonly language: keyof typeof LANGUAGES
  readonly home: string
  readonly tests: number
  readonly instructions: string
  readonly given: Disk
  readonly solution: readonly string[]
  /** The solution of its author, by absolute path. */
  readonly golden: Readonly<Record<string, string>>
  /** Returns the disk on which a solution is tested: what is handed in, and all else as it was published. */
  judged(player: Disk): Disk
}

/** Lists the exercises in a checkout of the set, such as `python/bowling`. */
export function listExercises(folder: string): string[] {
  const names = Object.keys(LANGUAGES).flatMap((language) => {
    const shelf = join(folder, language, 'exercises', 'practice')
    return existsSync(shelf) ? readdirSync(shelf).map((slug) => `${language}/${slug}`) : []
  })
  if (names.length > 0) return names.sort()
  throw new Error(`${folder} has no exercise such as python/exercises/practice/bowling. Give a checkout of the set.`)
}

/** Returns the SHA-256 of the files of an exercise, with their paths. */
export function digestOf(folder: string, name: string): string {
  return digest(diskOf(folder, name))
}

/** Reads an exercise. Throws if its files are not those that were published: a score would be of something else. */
export function readExercise(folder: string, name: string, published: Published): Exercise {
  const [language, slug] = name.split('/') as [Exercise['language'], string]
  const home = `/workspace/${slug}`
  const disk = diskOf(folder, name)
  const [sha256, tests] = published[name] ?? ['', 0]
  if (digest(disk) !== sha256)
    throw new Error(
      `The files of ${name} in ${folder} are not those of the published set (SHA-256). Check out https://github.com/Aider-AI/polyglot-benchmark anew.`,
    )
  const at = (path: string) => `${home}/${path}`
  const text = (path: string) => readFile(disk, at(path)) ?? ''
  const { solution: listed, test, example } = configSchema.parse(JSON.parse(text('.meta/config.json'))).files
  // The original gives no build file to a player, though some exercises list one.
  const solution = listed.filter((path) => path !== 'Cargo.toml').map(at)
  const hidden = test.map(at)
  const isHidden = (path: string) =>
    hidden.includes(path) || /^\/(test|gradle|gradlew.*)(\/|$)|_test\.go$/.test(path.slice(home.length))
  const isAbout = (path: string) => /^\/\.(meta|docs)(\/|$)/.test(path.slice(home.length))
  const judging = part(disk, (path) => !isAbout(path) && !solution.includes(path))
  // Its author's solution may use libraries that the exercise does not name.
  const cargo = disk[at('.meta/Cargo-example.toml')]
  if (cargo) judging[at('Cargo.toml')] = cargo
  const isHandedIn = (path: string) =>
    solution.includes(path) || (language === 'java' && path.startsWith(at('src/main/java/')) && path.endsWith('.java'))
  return {
    language,
    home,
    tests,
    instructions: ['introduction', 'instructions', 'instructions.append']
      .map((part) => text(`.docs/${part}.md`))
      .join(''),
    given: Object.freeze(part(disk, (path) => !isAbout(path) && !isHidden(path))),
    solution,
    golden: Object.fromEntries(
      example.map((path) => [
        language === 'java'
          ? at(path.replace('.meta/src/reference/java/', 'src/main/java/'))
          : (solution.find((file) => extname(file) === extname(path)) as string),
        text(path),
      ]),
    ),
    judged: (player) => ({
      ...judging,
      ...part(player, (path, entry) => isHandedIn(path) && isFile(entry)),
    }),
  }
}

function diskOf(folder: string, name: string): Disk {
  const [language = '', slug = ''] = name.split('/')
  return createDisk({ [`/workspace/${slug}`]: { folder: join(folder, language, 'exercises', 'practice', slug) } })
}

function digest(disk: Disk): string {
  const files = Object.entries(disk).flatMap(([path, entry]) => {
    if (!isFile(entry)) return []
    const { mode: _, ...content } = entry
    return [hash('sha256', JSON.stringify([path, content]))]
  })
  return hash('sha256', files.sort().join('\n'))
}

function isFile(entry: Disk[string]): entry is Extract<Disk[string], { kind: 'text' | 'bytes' }> {
  return entry.kind === 'text' || entry.kind === 'bytes'
}

function part(disk: Disk, isPart: (path: string, entry: Disk[string]) => boolean): Disk {
  return Object.fromEntries(Object.entries(disk).filter(([path, entry]) => isPart(path, entry)))
}
