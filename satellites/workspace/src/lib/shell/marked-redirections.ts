import { defineTransform } from './walked-syntax.ts'

/**
 * The end of a path that a redirection opens, so that the file system knows it from all others. The library asks
 * whether such a path exists and what it is, and goes on with the line if that fails; that it cannot be written ends
 * the whole line, and what was printed before is lost.
 */
export const MARK = '\u{f0000}'

const OPENING = new Set(['>', '>>', '>|', '&>', '&>>'])

interface Redirection {
  readonly operator: string
  readonly target?: { parts?: { readonly type: string; readonly value?: string }[] }
}

export const markedRedirections = defineTransform('marked', 'Redirection', ({ operator, target }: Redirection) => {
  if (!target?.parts || !OPENING.has(operator)) return
  // The library knows its devices by their names.
  if (target.parts[0]?.value?.startsWith('/dev/')) return
  target.parts.push({ type: 'Literal', value: MARK })
})
