import type { Repository } from '../repository.ts'
import { readTag, subjectOf } from '../store/commit.ts'
import { formatDate } from '../store/dates.ts'
import { peel } from './revisions.ts'

/** Returns a reference as a format such as `%(refname:short)` shows it. */
export function formatRef(repo: Repository, name: string, id: string, format: string): string {
  const { type } = repo.objects.read(id)
  const commitId = peel(repo, id, 'commit')
  const commit = commitId === null ? null : repo.commit(commitId)
  const own = type === 'commit' ? commit : null
  const tag = type === 'tag' ? readTag(repo.objects, id) : null
  const creator = tag?.tagger ?? own?.committer
  const date = (of: typeof creator, how = 'default') => (of ? (formatDate(of, how, repo.around.now) ?? '') : '')
  return format.replace(/%\(([^)]*)\)|%%|%([0-9a-f]{2})/g, (all, given?: string, hex?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (given === undefined) return '%'
    const [, field = '', how] = /^([^:]*)(?::(.*))?$/.exec(given) ?? []
    const values: Readonly<Record<string, () => string>> = {
      refname: () => (how === 'short' ? name.replace(/^refs\/(heads|tags|remotes)\//, '') : name),
      objectname: () => (how === 'short' ? repo.shorten(id) : id),
      objecttype: () => type,
      HEAD: () => (name === repo.refs.head ? '*' : ' '),
      subject: () => subjectOf(tag?.message ?? own?.message ?? ''),
      'contents:subject': () => subjectOf(tag?.message ?? own?.message ?? ''),
      contents: () =>
        how === 'subject' ? subjectOf(tag?.message ?? own?.message ?? '') : (tag?.message ?? own?.message ?? ''),
      authorname: () => own?.author.name ?? '',
      authoremail: () => (own ? `<${own.author.email}>` : ''),
      authordate: () => date(own?.author, how),
      committername: () => own?.committer.name ?? '',
      committerdate: () => date(own?.committer, how),
      creatordate: () => date(creator, how),
      taggername: () => tag?.tagger.name ?? '',
      taggerdate: () => date(tag?.tagger, how),
      upstream: () => '',
      '*objectname': () => (tag ? tag.object : ''),
    }
    return values[field]?.() ?? all
  })
}
