/** Returns the regular expression of a pattern of files as git matches it; with `slashes`, `*` matches them too. */
export function globSource(pattern: string, slashes = false): string {
  let source = ''
  for (let i = 0; i < pattern.length; i++) {
    const letter = pattern[i] as string
    const rest = pattern.slice(i)
    if (!slashes && /^\*\*\//.test(rest) && (i === 0 || pattern[i - 1] === '/')) {
      source += '(?:.*/)?'
      i += 2
    } else if (!slashes && rest === '**' && (i === 0 || pattern[i - 1] === '/')) {
      source += '.*'
      i += 1
    } else if (letter === '*') {
      while (pattern[i + 1] === '*') i += 1
      source += slashes ? '[^]*' : '[^/]*'
    } else if (letter === '?') source += slashes ? '[^]' : '[^/]'
    else if (letter === '[') {
      const [all, not, body] = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest) ?? []
      if (all === undefined || body === undefined) source += '\\['
      else {
        source += `[${not ? '^' : ''}${body.replace(/[\\\]^]/g, '\\$&').replace(/\[:(\w+):/g, '')}]`
        i += all.length - 1
      }
    } else if (letter === '\\' && i + 1 < pattern.length) {
      i += 1
      source += (pattern[i] as string).replace(/\W/, '\\$&')
    } else source += letter.replace(/[.+^${}()|\]\\]/, '\\$&')
  }
  return source
}

/** Paths that a command was given, relative to the top of the working tree. */
export class PathFilter {
  readonly #matchers: readonly { readonly given: string; matches(path: string): boolean }[]

  constructor(paths: readonly { readonly given: string; readonly path: string }[]) {
    this.#matchers = paths.map(({ given, path }) => {
      const prefix = path === '' || path.endsWith('/') ? path : `${path}/`
      const glob = /[*?[]/.test(path) ? new RegExp(`^${globSource(path, true)}(?:/|$)`) : null
      return {
        given,
        matches: (other) => path === '' || other === path || other.startsWith(prefix) || glob?.test(other) === true,
      }
    })
  }

  /** Whether no path was given: then every path matches. */
  get isEmpty(): boolean {
    return this.#matchers.length === 0
  }

  matches(path: string): boolean {
    return this.isEmpty || this.#matchers.some((each) => each.matches(path))
  }

  /** Returns the first path given that matches none of some paths. */
  unmatched(paths: Iterable<string>): string | null {
    const all = [...paths]
    return this.#matchers.find((each) => !all.some((path) => each.matches(path)))?.given ?? null
  }
}

export const EVERY_PATH = new PathFilter([])
