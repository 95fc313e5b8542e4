import type { TransformPlugin } from 'just-bash'
import { absolutePath } from '../disk/disk.ts'
import type { EditedDisk } from '../disk/edited-disk.ts'
import { toText } from '../disk/file-content.ts'

interface SimpleCommand {
  name: { readonly parts: readonly { readonly type: string; readonly value?: string }[] } | null
  readonly args: SimpleCommand['name'][]
}

/**
 * Runs a script with the program that its first line names, where the library runs each with bash. It is read before
 * the command line begins: one that the line itself writes is not known, nor one that is reached by a `cd` in it.
 */
export function scriptInterpreters(disk: EditedDisk, cwd: string): TransformPlugin {
  return {
    name: 'script-interpreters',
    transform({ ast }) {
      visit(ast)
      return { ast }
    },
  }

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return
    for (const child of Object.values(node)) visit(child)
    const command = node as { readonly type?: string } & SimpleCommand
    if (command.type !== 'SimpleCommand') return
    const [part, ...others] = command.name?.parts ?? []
    if (part?.type !== 'Literal' || others.length > 0 || !part.value?.includes('/')) return
    const program = interpreterOf(absolutePath(cwd, part.value))
    if (program === null) return
    command.args.unshift({ parts: [part] })
    command.name = { ...command.name, parts: [{ ...part, value: program }] }
  }

  /** Returns the program of a script that is not for a shell; `null` for everything else. */
  function interpreterOf(path: string): string | null {
    try {
      const node = disk.find(path, 'open')
      if (node.kind === 'directory' || (node.mode & 0o111) === 0) return null
      const [first = ''] = (toText(disk.read(path)) ?? '').split('\n', 1)
      const [, program = '', argument = ''] = /^#!\s*(?:\S*\/)?(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(first) ?? []
      const name = program === 'env' ? argument : program
      return name === '' || /^(ba|da|z|k)?sh$/.test(name) ? null : name.replace(/^python$/, 'python3')
    } catch {
      return null
    }
  }
}
