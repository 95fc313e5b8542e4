import { isUtf8 } from 'node:buffer'
import type { ResolvedCommandContext } from 'just-bash'
import { decodeBytes } from '../bytes/byte-text.ts'
import { defineTransform, type SimpleCommand, wordOf } from './walked-syntax.ts'

/** The first argument of `env` that has it decode the variables of a `read`. */
export const READ = '\u{f0002}'

/** Has {@link decodeRead} follow each `read`, by which the library makes a letter of each byte. */
export const decodedReads = defineTransform('decoded-reads', 'SimpleCommand', (command: SimpleCommand) => {
  if (command.name?.parts[0]?.value !== 'read') return
  const read = { ...command, redirections: [] }
  // What another descriptor has is a text already.
  const other = command.redirections.some(({ operator }) => operator === '<&') ? [wordOf('-u0')] : []
  const args = [wordOf(READ), ...other, ...command.args]
  const decode = { ...read, assignments: [], name: wordOf('/usr/bin/env'), args }
  const body = [read, decode].map((each) => {
    const pipelines = [{ type: 'Pipeline', commands: [each], negated: false }]
    return { type: 'Statement', pipelines, operators: [], background: false }
  })
  Object.assign(command, { type: 'Group', body })
})

/** Decodes what a `read` with these arguments has put into variables, and ends as it has ended. */
export function decodeRead(args: readonly string[], { env }: Pick<ResolvedCommandContext, 'env'>) {
  const names = args.filter((arg, i) => /^[a-z_]\w*$/i.test(arg) && !/^-\w*[adinNptu]$/.test(args[i - 1] ?? ''))
  const isText = args.some((arg) => /^-\w*u/.test(arg))
  for (const name of names.length > 0 ? names : ['REPLY']) {
    const bytes = Buffer.from(env.get(name) ?? '', 'latin1')
    if (bytes.toString('latin1') === env.get(name) && (isUtf8(bytes) || !isText)) env.set(name, decodeBytes(bytes))
  }
  return { stdout: '', stderr: '', exitCode: Number(env.get('?')) }
}
