import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { formatCommit, parseFormat } from '../history/format-commit.ts'
import type { Options } from '../options.ts'

/** The options of commands that print what a reference was. */
export const REF_LOG_OPTIONS = '#|n|max-count= oneline pretty|format='

/**
 * Prints what a reference was, the latest first.
 *
 * @param typed - the reference as it was typed: `main`, or `refs/stash`.
 * @param usual - the format without `--format` and `--oneline`.
 */
export function printRefLog(call: Call, options: Options, ref: string, typed: string, usual: string): void {
  const { repo } = call
  const asked = options.has('oneline') ? 'oneline' : (options.value('format') ?? usual)
  if (asked !== 'oneline' && !asked.includes('%'))
    throw fatal(`--format=${asked} of a log of references is not available here`)
  const given = Number(options.value('max-count') ?? -1)
  const most = given < 0 ? undefined : given
  const lines: string[] = []
  for (const [index, { to, message }] of repo.refs.log(ref).slice(0, most).entries()) {
    if (/^0+$/.test(to)) continue
    const parts: Readonly<Record<string, string>> = {
      '%%': '%',
      '%gd': `${typed.replace(/^refs\/(heads\/|tags\/|remotes\/)?/, '')}@{${index}}`,
      '%gD': `${typed}@{${index}}`,
      '%gs': message,
    }
    const text = asked === 'oneline' ? `%h ${typed}@{${index}}: %gs` : asked.replace(/^t?format:/, '')
    const format = text.replaceAll(/%%|%g[dDs]/g, (part) => (parts[part] as string).replaceAll('%', '%%'))
    lines.push(formatCommit(repo, repo.commit(to), parseFormat(`tformat:${format}`)))
  }
  // `format:` separates the entries, and the others end each.
  const end = asked.startsWith('format:') || lines.length === 0 ? '' : '\n'
  call.out(`${lines.join('\n')}${end}`)
}
