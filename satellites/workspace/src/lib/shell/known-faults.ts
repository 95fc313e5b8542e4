import type { Bash, Command, ResolvedCommandContext } from 'just-bash'
import { refusalOf } from './refused-forms.ts'
import { BY_PATH, runByPath } from './script-interpreters.ts'

/** Puts what is known to go wrong before the library's own commands, which it has no other way to reach. */
export function guardCommands(bash: Bash): void {
  const { commands } = bash as unknown as { readonly commands: Map<string, Command> }
  for (const [name, command] of commands)
    commands.set(name, {
      ...command,
      async execute(args, context) {
        if (args[0] === BY_PATH) return runByPath(args.slice(1), context as ResolvedCommandContext)
        const refusal = refusalOf(name, args)
        if (refusal !== null) return { stdout: '', stderr: `${refusal}\n`, exitCode: 2 }
        return command.execute(name === 'rm' || name === 'ln' ? await unlinked(name, args, context) : args, context)
      },
    })
}

/**
 * Removes the links that `rm` removes and `ln -f` replaces: the library looks at what they lead to. Returns the
 * arguments that are left.
 */
async function unlinked(name: 'rm' | 'ln', args: string[], { fs, cwd }: ResolvedCommandContext): Promise<string[]> {
  const operands = args.filter((arg) => !arg.startsWith('-'))
  const flags = args.filter((arg) => /^-[a-zA-Z]/.test(arg)).join('')
  const isLink = async (path: string) =>
    (await fs.lstat(fs.resolvePath(cwd, path)).catch(() => null))?.isSymbolicLink === true
  if (name === 'ln') {
    const target = operands.at(-1) ?? ''
    if (operands.length !== 2 || !flags.includes('f') || !(await isLink(target))) return args
    const isInto = !flags.includes('n') && (await fs.stat(fs.resolvePath(cwd, target)).catch(() => null))?.isDirectory
    if (!isInto) await fs.rm(fs.resolvePath(cwd, target))
    return args
  }
  const left: string[] = []
  for (const arg of args)
    if (operands.includes(arg) && !arg.endsWith('/') && (await isLink(arg))) await fs.rm(fs.resolvePath(cwd, arg))
    else left.push(arg)
  // With nothing left, it has done all that it was asked.
  return left.length === args.length || left.some((arg) => !arg.startsWith('-')) ? left : ['-f', ...left]
}
