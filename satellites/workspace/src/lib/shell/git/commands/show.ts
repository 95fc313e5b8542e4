import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { FORMATS } from '../history/format-commit.ts'
import { parseRevisions } from '../history/revision-list.ts'
import { commitChanges, treeChanges } from '../history/tree-changes.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { readTag } from '../store/commit.ts'
import { formatDate } from '../store/dates.ts'
import { DIRECTORY, readTree } from '../store/tree.ts'
import { DIFF_OPTIONS, type DiffOutput, diffOutputOf, formatDiff } from '../text/diff-output.ts'
import type { PathFilter } from '../worktree/patterns.ts'
import { chosenCommits, entryOf, FORMAT_OPTIONS, formatOf, joinEntries } from './log.ts'

export function show(call: Call): void {
  const options = parseOptions(call.args, `${FORMAT_OPTIONS} ${DIFF_OPTIONS} first-parent m c cc`)
  const { repo } = call
  const list = parseRevisions(repo, options)
  const output = diffOutputOf(options, ['patch'])
  const filter = repo.filterOf(list.paths)
  const head = repo.headId
  if (list.from.length === 0 && head === null)
    throw fatal(`your current branch '${repo.branch}' does not have any commits yet`)
  const format = formatOf(options)
  if (list.without.length > 0) {
    const { commits, changesOf } = chosenCommits(repo, options)
    call.out(
      joinEntries(
        commits.map((commit) =>
          entryOf(repo, commit, format, formatDiff(repo, changesOf(commit, output), output), output),
        ),
        format,
      ),
    )
    return
  }
  const ids = list.from.length > 0 ? list.from : [head as string]
  const names = list.given.length > 0 ? list.given : ['HEAD']
  const texts = ids.map((id, index) => shownObject(repo, id, names[index] as string, { format, output, filter }))
  call.out(texts.join(format.separated && FORMATS.includes(format.format) ? '\n' : ''))
}

interface Showing {
  readonly format: ReturnType<typeof formatOf>
  readonly output: DiffOutput
  readonly filter: PathFilter
}

function shownObject(repo: Repository, id: string, name: string, showing: Showing): string {
  const { type, data } = repo.objects.read(id)
  if (type === 'blob') return data
  if (type === 'tree') {
    const items = [...readTree(repo.objects, id)].map(([path, { mode }]) => `${path}${mode === DIRECTORY ? '/' : ''}\n`)
    return `tree ${name}\n\n${items.join('')}`
  }
  if (type === 'tag') {
    const tag = readTag(repo.objects, id)
    const date = formatDate(tag.tagger, showing.format.date, repo.around.now)
    const head = `tag ${tag.name}\nTagger: ${tag.tagger.name} <${tag.tagger.email}>\nDate:   ${date}\n\n${tag.message}\n`
    return head + shownObject(repo, tag.object, name, showing)
  }
  const commit = repo.commit(id)
  const { format, output, filter } = showing
  if (commit.parents.length < 2 || output.parts.some((part) => part === 'stat' || part === 'shortstat'))
    return entryOf(
      repo,
      commit,
      format,
      formatDiff(repo, commitChanges(repo, commit, filter, output.findRenames), output),
      output,
    )
  return entryOf(repo, commit, format, mergeDiff(repo, id, showing), output)
}

/** Returns what a merge has otherwise than all of its parents: the names of files, and never their lines. */
function mergeDiff(repo: Repository, id: string, { format, output, filter }: Showing): string {
  const { parents, tree } = repo.commit(id)
  const lists = parents.map((parent) => treeChanges(repo, repo.commit(parent).tree, tree, filter, false))
  const both = lists[0]?.filter((change) =>
    lists.every((list) => list.some(({ after }) => after && after.path === change.after?.path)),
  )
  const isNames = output.parts.includes('name-only') || output.parts.includes('name-status')
  if (isNames) return formatDiff(repo, both ?? [], output)
  // Real git ends what it finds, even if that is nothing.
  return format.format === 'oneline' && output.parts.length > 0 ? '\n' : ''
}
