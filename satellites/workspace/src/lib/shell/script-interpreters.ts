import type { ResolvedCommandContext } from 'just-bash'
import { defineTransform } from './walked-syntax.ts'

type Word = { readonly parts: readonly { readonly type: string; readonly value?: string }[] }
type SimpleCommand = { name: Word | null; readonly args: Word[] }

/** The first argument of `env` that has it run a program by its path. */
export const BY_PATH = '\u{f0001}'

/** Hands what a command line runs by its path to {@link runByPath}. */
export const programsByPath = defineTransform('by-path', 'SimpleCommand', (command: SimpleCommand) => {
  const { name, args } = command
  if (!name?.parts.some(({ value }) => value?.includes('/'))) return
  args.unshift({ parts: [{ type: 'Literal', value: BY_PATH }] }, name)
  command.name = { ...name, parts: [{ type: 'Literal', value: '/usr/bin/env' }] }
})

/** Runs a script with the program that its first line names, where the library runs each with bash. */
export async function runByPath([path = '', ...args]: readonly string[], context: ResolvedCommandContext) {
  const { fs, cwd, exportedEnv: env = {}, exec, stdin } = context
  const file = fs.resolvePath(cwd, path)
  const stat = await fs.stat(file).catch(() => null)
  const [first = ''] = stat?.isFile && (stat.mode & 0o111) !== 0 ? (await fs.readFile(file)).split('\n', 1) : []
  const [, program = '', argument = ''] = /^#!\s*(?:\S*\/)?(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(first) ?? []
  const name = (program === 'env' ? argument : program).replace(/^python$/, 'python3')
  const words = name === '' || /^(ba|da|z|k)?sh$/.test(name) ? [path] : [name, path]
  const given = { cwd, stdin: `${stdin}`, stdinKind: 'bytes', env, replaceEnv: true } as const
  return (exec as NonNullable<typeof exec>)('command', { ...given, args: [...words, ...args] })
}
