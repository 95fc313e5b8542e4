import type { Repository } from '../repository.ts'
import type { Commit } from '../store/commit.ts'

/** Returns all commits that some lead to, with themselves. */
export function ancestorsOf(repo: Repository, ids: Iterable<string>): Set<string> {
  const found = new Set<string>()
  const left = [...ids]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (found.has(id)) continue
    found.add(id)
    left.push(...repo.commit(id).parents)
  }
  return found
}

export function isAncestor(repo: Repository, id: string, of: string): boolean {
  return ancestorsOf(repo, [of]).has(id)
}

/** Returns the best common ancestors of two commits, the newest first. */
export function mergeBases(repo: Repository, one: string, other: string): string[] {
  const there = ancestorsOf(repo, [other])
  const common = [...ancestorsOf(repo, [one])].filter((id) => there.has(id))
  const worse = ancestorsOf(
    repo,
    common.flatMap((id) => repo.commit(id).parents),
  )
  const time = (id: string) => repo.commit(id).committer.time
  return common.filter((id) => !worse.has(id)).sort((a, b) => time(b) - time(a))
}

/** Which commits are listed, and how. */
export interface Walk {
  readonly from: readonly string[]
  /** These are left out, with all that they lead to. */
  readonly without: readonly string[]
  readonly firstParent: boolean
  /** Lists each commit after all that come from it. */
  readonly topological: boolean
  /** Returns the parents by which a commit is followed, and whether it is listed. */
  readonly simplify: (commit: Commit) => { readonly parents: readonly string[]; readonly isListed: boolean }
}

/** Lists commits, the newest first. */
export function* walkCommits(repo: Repository, walk: Walk): Generator<Commit> {
  const without = ancestorsOf(repo, walk.without)
  const seen = new Set<string>()
  const queue: Commit[] = []
  const add = (id: string) => {
    if (seen.has(id) || without.has(id)) return
    seen.add(id)
    const commit = repo.commit(id)
    // After all that are as new.
    let [low, high] = [0, queue.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((queue[middle] as Commit).committer.time >= commit.committer.time) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, commit)
  }
  if (walk.topological) {
    yield* walkTopological(repo, walk, without)
    return
  }
  for (const id of walk.from) add(id)
  for (let commit = queue.shift(); commit; commit = queue.shift()) {
    const { parents, isListed } = walk.simplify(commit)
    for (const parent of walk.firstParent ? parents.slice(0, 1) : parents) add(parent)
    if (isListed) yield commit
  }
}

function* walkTopological(repo: Repository, walk: Walk, without: ReadonlySet<string>): Generator<Commit> {
  const all = [
    ...walkCommits(repo, {
      ...walk,
      topological: false,
      simplify: (commit) => ({ ...walk.simplify(commit), isListed: true }),
    }),
  ]
  const parentsOf = new Map(
    all.map((commit) => {
      const { parents } = walk.simplify(commit)
      return [commit.id, (walk.firstParent ? parents.slice(0, 1) : parents).filter((id) => !without.has(id))]
    }),
  )
  const waiting = new Map<string, number>()
  for (const parents of parentsOf.values()) for (const id of parents) waiting.set(id, (waiting.get(id) ?? 0) + 1)
  const byId = new Map(all.map((commit) => [commit.id, commit]))
  const ready = all.filter(({ id }) => !waiting.get(id)).reverse()
  for (let commit = ready.pop(); commit; commit = ready.pop()) {
    if (walk.simplify(commit).isListed) yield commit
    for (const id of parentsOf.get(commit.id) ?? []) {
      waiting.set(id, (waiting.get(id) ?? 0) - 1)
      const parent = byId.get(id)
      if (waiting.get(id) === 0 && parent) ready.push(parent)
    }
  }
}
