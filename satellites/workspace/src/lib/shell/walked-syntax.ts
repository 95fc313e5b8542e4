import type { TransformPlugin } from 'just-bash'

export interface Word {
  readonly parts: readonly { readonly type: string; readonly value?: string }[]
}

export interface SimpleCommand {
  type: string
  name: Word | null
  readonly args: Word[]
  readonly redirections: readonly { readonly operator: string }[]
}

export function wordOf(value: string): Word {
  return { parts: [{ type: 'Literal', value }] }
}

/** Returns what changes all nodes of a type of a command line, those in functions and substitutions too. */
export function defineTransform<Node>(name: string, type: string, change: (node: Node) => void): TransformPlugin {
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const child of Object.values(node)) visit(child)
    if ((node as { readonly type?: unknown }).type === type) change(node as Node)
  }
  return {
    name,
    transform({ ast }) {
      visit(ast)
      return { ast }
    },
  }
}
