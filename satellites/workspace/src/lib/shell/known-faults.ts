import type { Bash, Command, CommandContext, ResolvedCommandContext } from 'just-bash'
import { directoryOf, isWithin } from '../disk/disk.ts'
import { decodeRead, READ } from './decoded-reads.ts'
import { refusalOf } from './refused-forms.ts'
import { BY_PATH, runByPath } from './script-interpreters.ts'

/** Puts what is known to go wrong before the library's own commands, which it has no other way to reach. */
export function guardCommands(bash: Bash): void {
  const { commands } = bash as unknown as { readonly commands: Map<string, Command> }
  for (const [name, command] of commands)
    commands.set(name, {
      ...command,
      async execute(args, context) {
        if (args[0]?.startsWith(READ)) return decodeRead(args, context)
        if (args[0] === BY_PATH) return runByPath(args.slice(1), context as ResolvedCommandContext)
        const refusal = refusalOf(name, args) ?? (await linkRefusal(name, args, context))
        if (refusal !== null) return { stdout: '', stderr: `${refusal}\n`, exitCode: 2 }
        return command.execute(name === 'rm' || name === 'ln' ? await unlinked(name, args, context) : args, context)
      },
    })
}

/** Returns why a command is refused that would take a link for what it leads to; `null` if it meets none. */
async function linkRefusal(name: string, args: string[], { fs, cwd }: CommandContext): Promise<string | null> {
  const flags = args
    .filter((arg, i) => (name === 'tar' && i === 0 ? /^-?[a-zA-Z]+$/ : /^-[a-zA-Z]+$/).test(arg))
    .join('')
  const paths = args.filter((arg) => !arg.startsWith('-'))
  const isDeep =
    (name === 'cp' && (/[rR]/.test(flags) || args.includes('--recursive'))) ||
    (name === 'tar' && (flags.includes('c') || args.includes('--create')))
  if (!isDeep && !(name === 'ls' && flags.includes('l')) && !(name === 'readlink' && flags.includes('f'))) return null
  const given = (paths.length > 0 ? paths : ['.']).map((path) => fs.resolvePath(cwd, path))
  // What is copied to comes last.
  if (name === 'cp') given.pop()
  const isMet = (path: string) =>
    given.some((each) =>
      name === 'readlink'
        ? path !== each && isWithin(each, path)
        : isWithin(path, each) && (isDeep || path === each || directoryOf(path) === each),
    )
  for (const path of fs.getAllPaths())
    if (isMet(path) && (await fs.lstat(path)).isSymbolicLink)
      return `${name}: not available here: ${name === 'ls' ? '-l where there are links' : 'links'} (${path}): use ls, and readlink for a link`
  return null
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
