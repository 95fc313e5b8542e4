import { GitError } from './git-error.ts'

/** The options and operands of a command. */
export interface Options {
  /** Operands before `--`. */
  readonly operands: readonly string[]
  /** What follows `--`; `null` if there is none. */
  readonly paths: readonly string[] | null
  has(name: string): boolean
  /** Returns the last value of an option. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
}

interface Option {
  readonly name: string
  readonly takes: 'nothing' | 'value' | 'attached'
}

/**
 * Parses arguments by a list of options in words: `q|quiet` is one without a value, `m|message=` one with a value, and
 * `abbrev=?` one with a value that is attached or missing. The last name of each is how it is asked for; `--no-…`
 * takes it back, and is asked for as `no-…` if it is in the list itself.
 */
export function parseOptions(args: readonly string[], list: string): Options {
  const known = new Map<string, Option>()
  for (const word of list.split(/\s+/).filter(Boolean)) {
    const takes = word.endsWith('=?') ? 'attached' : word.endsWith('=') ? 'value' : 'nothing'
    const names = word.replace(/=\??$/, '').split('|')
    for (const name of names) known.set(name, { name: names.at(-1) as string, takes })
  }
  const found = new Map<string, string[]>()
  const add = ({ name }: Option, value: string) => found.set(name, [...(found.get(name) ?? []), value])
  const operands: string[] = []
  let paths: string[] | null = null
  const left = [...args]
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    if (arg === '--') {
      paths = left.splice(0)
    } else if (arg.startsWith('--')) {
      const [, word = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? []
      const option = findLong(known, word)
      const negated = option ? undefined : word.startsWith('no-') ? findLong(known, word.slice(3)) : undefined
      if (negated) found.delete(negated.name)
      else if (!option) throw new GitError(`error: unknown option \`${word}'`, 129)
      else if (option.takes === 'value' && value === undefined) {
        const next = left.shift()
        if (next === undefined) throw new GitError(`error: option \`${word}' requires a value`, 129)
        add(option, next)
      } else add(option, value ?? '')
    } else if (/^-./.test(arg)) parseShort(arg.slice(1))
    else operands.push(arg)
  }

  function parseShort(letters: string): void {
    for (let i = 0; i < letters.length; i++) {
      const letter = letters[i] as string
      const digits = /^\d+$/.exec(letters.slice(i))?.[0]
      const option = digits !== undefined && known.has('#') ? known.get('#') : known.get(letter)
      if (!option) throw new GitError(`error: unknown switch \`${letter}'`, 129)
      if (option.takes === 'nothing') {
        add(option, '')
        continue
      }
      const attached = option.name === '#' || known.get('#') === option ? (digits as string) : letters.slice(i + 1)
      if (attached !== '' || option.takes === 'attached') add(option, attached)
      else {
        const next = left.shift()
        if (next === undefined) throw new GitError(`error: switch \`${letter}' requires a value`, 129)
        add(option, next)
      }
      return
    }
  }

  return {
    operands,
    paths,
    has: (name) => found.has(name),
    value: (name) => found.get(name)?.at(-1),
    values: (name) => found.get(name) ?? [],
  }
}

/** Finds an option by its name, or by a beginning that no other has. */
function findLong(known: ReadonlyMap<string, Option>, word: string): Option | undefined {
  const exact = known.get(word)
  if (exact && word.length > 1) return exact
  if (word.length < 2) return undefined
  const longer = [...known].filter(([name]) => name.startsWith(word)).map(([, option]) => option)
  return new Set(longer).size === 1 ? longer[0] : undefined
}
