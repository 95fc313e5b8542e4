import { compareBytes } from '../bytes.ts'
import { fatal } from '../git-error.ts'
import type { Objects } from './objects.ts'

/** What a tree has under a name, or a file that it has at a path. */
export interface TreeItem {
  readonly mode: number
  readonly id: string
}

/** Files by path. */
export type Files = ReadonlyMap<string, TreeItem>

export const DIRECTORY = 0o040000
export const LINK = 0o120000
export const SUBMODULE = 0o160000
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Returns what a tree has itself, by name. */
export function readTree(objects: Objects, id: string): Map<string, TreeItem> {
  const items = new Map<string, TreeItem>()
  if (id === EMPTY_TREE) return items
  const { type, data } = objects.read(id)
  if (type !== 'tree') throw fatal(`not a tree object: ${id}`)
  for (let at = 0; at < data.length; ) {
    const [space, nul] = [data.indexOf(' ', at), data.indexOf('\0', at)]
    const name = data.slice(space + 1, nul)
    items.set(name, {
      mode: Number.parseInt(data.slice(at, space), 8),
      id: Buffer.from(data.slice(nul + 1, nul + 21), 'latin1').toString('hex'),
    })
    at = nul + 21
  }
  return items
}

/** Returns all files of a tree by path, sorted. */
export function filesOf(objects: Objects, id: string | null): Map<string, TreeItem> {
  const files: [string, TreeItem][] = []
  const collect = (tree: string, prefix: string) => {
    for (const [name, item] of readTree(objects, tree))
      if (item.mode === DIRECTORY) collect(item.id, `${prefix}${name}/`)
      else files.push([prefix + name, item])
  }
  if (id !== null) collect(id, '')
  return new Map(files.sort(([one], [other]) => compareBytes(one, other)))
}

/** Returns the files that two trees do not have in common, without reading what is equal. */
export function differingFiles(
  objects: Objects,
  before: string | null,
  after: string | null,
): { readonly before: Map<string, TreeItem>; readonly after: Map<string, TreeItem> } {
  const found = { before: new Map<string, TreeItem>(), after: new Map<string, TreeItem>() }
  const add = (side: 'before' | 'after', item: TreeItem, path: string) => {
    if (item.mode !== DIRECTORY) found[side].set(path, item)
    else for (const [name, inside] of readTree(objects, item.id)) add(side, inside, `${path}/${name}`)
  }
  const compare = (one: string | null, other: string | null, prefix: string) => {
    if (one === other) return
    const left = one === null ? new Map<string, TreeItem>() : readTree(objects, one)
    const right = other === null ? new Map<string, TreeItem>() : readTree(objects, other)
    for (const name of [...new Set([...left.keys(), ...right.keys()])].sort()) {
      const [here, there, path] = [left.get(name), right.get(name), prefix + name]
      if (here && there && here.id === there.id && here.mode === there.mode) continue
      if (here?.mode === DIRECTORY && there?.mode === DIRECTORY) {
        compare(here.id, there.id, `${path}/`)
        continue
      }
      if (here) add('before', here, path)
      if (there) add('after', there, path)
    }
  }
  compare(before, after, '')
  return found
}

/** Writes the trees of files, and returns the id of the topmost. */
export function writeTree(objects: Objects, files: Iterable<readonly [string, TreeItem]>): string {
  const here = new Map<string, TreeItem>()
  const folders = new Map<string, [string, TreeItem][]>()
  for (const [path, item] of files) {
    const slash = path.indexOf('/')
    if (slash < 0) here.set(path, item)
    else {
      const name = path.slice(0, slash)
      const inside = folders.get(name) ?? []
      inside.push([path.slice(slash + 1), item])
      folders.set(name, inside)
    }
  }
  for (const [name, inside] of folders) here.set(name, { mode: DIRECTORY, id: writeTree(objects, inside) })
  // A directory is sorted as if its name ended with a slash.
  const key = ([name, { mode }]: readonly [string, TreeItem]) => (mode === DIRECTORY ? `${name}/` : name)
  const data = [...here]
    .sort((one, other) => compareBytes(key(one), key(other)))
    .map(([name, { mode, id }]) => `${mode.toString(8)} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`)
    .join('')
  return objects.write('tree', data)
}
