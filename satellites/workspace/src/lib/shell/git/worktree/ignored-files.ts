import { toPattern } from '../bytes.ts'
import { type Folder, parentOf } from '../store/folder.ts'
import { globSource } from './patterns.ts'

interface Rule {
  readonly expression: RegExp
  readonly isNegated: boolean
  readonly directoriesOnly: boolean
  /** For `check-ignore -v`. */
  readonly place: string
}

/** Which files of a working tree are ignored: by each `.gitignore`, and `.git/info/exclude`. */
export class IgnoredFiles {
  readonly #tree: Folder
  readonly #everywhere: readonly Rule[]
  readonly #byDirectory = new Map<string, readonly Rule[]>()
  readonly #known = new Map<string, boolean>()

  constructor(tree: Folder, exclude: string) {
    this.#tree = tree
    this.#everywhere = rulesOf(exclude, '', '.git/info/exclude')
  }

  /** Returns whether a path is ignored itself, or by a directory that it is in. */
  has(path: string, isDirectory: boolean): boolean {
    const key = isDirectory ? `${path}/` : path
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const above = parentOf(path)
    const isIgnored = (above !== '' && this.has(above, true)) || this.rule(path, isDirectory)?.isNegated === false
    this.#known.set(key, isIgnored)
    return isIgnored
  }

  /** Returns the rule that decides over a path itself. */
  rule(path: string, isDirectory: boolean): Rule | null {
    for (let directory = parentOf(path); ; directory = parentOf(directory)) {
      const rule = this.#rulesIn(directory).findLast((each) => matches(each, path, isDirectory))
      if (rule) return rule
      if (directory === '') break
    }
    return this.#everywhere.findLast((each) => matches(each, path, isDirectory)) ?? null
  }

  #rulesIn(directory: string): readonly Rule[] {
    const known = this.#byDirectory.get(directory)
    if (known) return known
    const file = directory === '' ? '.gitignore' : `${directory}/.gitignore`
    const rules = rulesOf(this.#tree.read(file) ?? '', directory, file)
    this.#byDirectory.set(directory, rules)
    return rules
  }
}

function matches(rule: Rule, path: string, isDirectory: boolean): boolean {
  return (isDirectory || !rule.directoriesOnly) && rule.expression.test(path)
}

function rulesOf(text: string, directory: string, file: string): Rule[] {
  return text.split('\n').flatMap((given, index): Rule[] => {
    const line = given.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
    if (line === '' || line.startsWith('#')) return []
    const isNegated = line.startsWith('!')
    const whole = isNegated ? line.slice(1) : line
    const directoriesOnly = whole.endsWith('/')
    const pattern = directoriesOnly ? whole.slice(0, -1) : whole
    const isAnchored = pattern.includes('/')
    const base = directory === '' ? '' : `${toPattern(directory)}/`
    const source = globSource(pattern.replace(/^\//, ''))
    const expression = new RegExp(`^${base}${isAnchored ? '' : '(?:.*/)?'}${source}$`)
    return [{ expression, isNegated, directoriesOnly, place: `${file}:${index + 1}:${line}` }]
  })
}
