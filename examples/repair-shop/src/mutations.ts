import type { Program } from './programs.ts'

/** A bug: one line of a module that is changed. */
export interface Bug {
  readonly module: string
  /** Counted from 0. */
  readonly line: number
  readonly correct: string
  readonly wrong: string
}

/** What is replaced by what, wherever it is in the code of a line. */
const OPERATORS: readonly (readonly [from: RegExp, to: string])[] = [
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \* /g, ' / '],
  [/Math\.max/g, 'Math.min'],
  [/Math\.min/g, 'Math.max'],
  [/ \+= /g, ' = '],
  [/padStart/g, 'padEnd'],
  [/\.every\(/g, '.some('],
  [/\.some\(/g, '.every('],
  [/\b0\b(?!\.)/g, '1'],
  [/(?<![.\w])1\b/g, '0'],
  [/\b60\b/g, '100'],
]

const found = new Map<Program, readonly Bug[]>()

/** Returns every bug that can be planted in a program. They are searched for once, and episodes begin with them. */
export function bugsOf(program: Program): readonly Bug[] {
  const bugs = found.get(program) ?? searchBugs(program)
  found.set(program, bugs)
  return bugs
}

function searchBugs({ modules }: Program): readonly Bug[] {
  return Object.entries(modules).flatMap(([module, text]) =>
    text.split('\n').flatMap((correct, line) => {
      if (/^\s*(\/\*\*|import|export \{)/.test(correct)) return []
      return OPERATORS.flatMap(([from, to]) =>
        [...correct.matchAll(from)].map(({ index, 0: found }) => ({
          module,
          line,
          correct,
          wrong: correct.slice(0, index) + to + correct.slice(index + found.length),
        })),
      )
    }),
  )
}

/** Returns the modules of a program with bugs, at most one in a line. */
export function planted({ modules }: Program, bugs: readonly Bug[]): Readonly<Record<string, string>> {
  const wrong = Object.entries(modules).map(([module, text]) => {
    const lines = text.split('\n')
    for (const bug of bugs) if (bug.module === module) lines[bug.line] = bug.wrong
    return [module, lines.join('\n')]
  })
  return Object.fromEntries(wrong)
}
