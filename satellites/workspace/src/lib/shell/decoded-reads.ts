import { isUtf8 } from 'node:buffer'
import type { ResolvedCommandContext } from 'just-bash'
import { decodeBytes } from '../bytes/byte-text.ts'
import { defineTransform, type SimpleCommand, wordOf } from './walked-syntax.ts'

/** The first argument of `env` that has it decode the variables of a `read`. */
export const READ = '\u{f0002}'

interface Statement {
  pipelines: { readonly commands: readonly SimpleCommand[]; readonly negated: boolean }[]
  operators: string[]
}

/**
 * Turns each `read`, by which the library makes a letter of each byte, into `read && decode || decode`: one of them
 * runs, with the status of `read`. A group would end under `set -e` where `read` does not.
 */
export const decodedReads = defineTransform('decoded-reads', 'Statement', (statement: Statement) => {
  const operators = [...statement.operators]
  statement.operators = []
  statement.pipelines = statement.pipelines.flatMap((pipeline, i) => {
    const [command, ...others] = pipeline.commands
    if (i > 0) statement.operators.push(operators[i - 1] as string)
    if (others.length > 0 || command?.type !== 'SimpleCommand') return [pipeline]
    if (command.name?.parts[0]?.value !== 'read') return [pipeline]
    statement.operators.push('&&', '||')
    // What another descriptor has is a text already.
    const other = command.redirections.some(({ operator }) => operator === '<&') ? [wordOf('-u0')] : []
    const then = (negated: boolean) => {
      const args = [wordOf(negated ? `${READ}!` : READ), ...other, ...command.args]
      const decode = { ...command, assignments: [], redirections: [], name: wordOf('/usr/bin/env'), args }
      return { ...pipeline, commands: [decode], negated }
    }
    return [pipeline, then(false), then(pipeline.negated)]
  })
})

/** Decodes what a `read` with these arguments has put into variables, and ends as it has ended. */
export function decodeRead([mark, ...args]: readonly string[], { env }: Pick<ResolvedCommandContext, 'env'>) {
  const names = args.filter((arg, i) => /^[a-z_]\w*$/i.test(arg) && !/^-\w*[adinNptu]$/.test(args[i - 1] ?? ''))
  const isText = args.some((arg) => /^-\w*u/.test(arg))
  for (const name of names.length > 0 ? names : ['REPLY']) {
    const bytes = Buffer.from(env.get(name) ?? '', 'latin1')
    if (bytes.toString('latin1') === env.get(name) && (isUtf8(bytes) || !isText)) env.set(name, decodeBytes(bytes))
  }
  return { stdout: '', stderr: '', exitCode: mark === READ ? Number(env.get('?')) : 0 }
}
