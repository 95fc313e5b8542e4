import type { TransformPlugin } from 'just-bash'

/**
 * The end of a path that a redirection opens, so that the file system knows it from all others. The library asks
 * whether such a path exists and what it is, and goes on with the line if that fails; that it cannot be written ends
 * the whole line, and what was printed before is lost.
 */
export const MARK = '\u{f0000}'

const OPENING = new Set(['>', '>>', '>|', '&>', '&>>'])

interface Redirection {
  readonly operator: string
  readonly target: { parts: { readonly type: string; readonly value?: string }[] }
}

/** Marks the redirections of a command line, those in functions and substitutions too. */
export const markedRedirections: TransformPlugin = {
  name: 'marked-redirections',
  transform({ ast }) {
    mark(ast)
    return { ast }
  },
}

function mark(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  for (const child of Object.values(node)) mark(child)
  const { type, operator, target } = node as { readonly type?: string } & Partial<Redirection>
  if (type !== 'Redirection' || !target?.parts || !OPENING.has(operator ?? '')) return
  // The library knows its devices by their names.
  if (target.parts[0]?.value?.startsWith('/dev/')) return
  target.parts.push({ type: 'Literal', value: MARK })
}
