import type { ResolvedCommandContext } from 'just-bash'
import { defineTransform, type SimpleCommand, wordOf } from './walked-syntax.ts'

/** The first argument of `env` that has it run a program by its path. */
export const BY_PATH = '\u{f0001}'

export const programsByPath = defineTransform('by-path', 'SimpleCommand', (command: SimpleCommand) => {
  const { name, args } = command
  if (!name?.parts.some(({ value }) => value?.includes('/'))) return
  args.unshift(wordOf(BY_PATH), name)
  command.name = { ...name, ...wordOf('/usr/bin/env') }
})

/** Runs a script with the program that its first line names, where the library runs each with bash. */
export async function runByPath([path = '', ...args]: readonly string[], context: ResolvedCommandContext) {
  const { fs, cwd, exportedEnv: env = {}, exec, stdin } = context
  const file = fs.resolvePath(cwd, path)
  const stat = await fs.stat(file).catch(() => null)
  const text = stat?.isFile && (stat.mode & 0o111) !== 0 ? await fs.readFile(file) : ''
  const [, program = '', options = ''] = /^#![ \t]*(?:\S*\/)?(?:env +(?:-S +)?)?(\S+)(?:[ \t]+(.*\S))?/.exec(text) ?? []
  const words = !/^$|^(ba|da|z|k)?sh$/.test(program)
    ? [program, ...options.split(' ').filter(Boolean), path]
    : // The library's own takes no options.
      options === ''
      ? [path]
      : ['bash', '-c', `${/^([-+][aefuxvn]+|-o \w+)$/.test(options) ? `set ${options}; ` : ''}${text}`, path]
  const given = { cwd, stdin: `${stdin}`, stdinKind: 'bytes', env, replaceEnv: true } as const
  return (exec as NonNullable<typeof exec>)('command', { ...given, args: [...words, ...args] })
}
