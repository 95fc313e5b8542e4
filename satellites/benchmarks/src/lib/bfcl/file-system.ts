import { splitlines, splitWords } from '../python/lines.ts'
import { formatFixed } from '../python/round.ts'
import { entriesOf, type PythonDict, type PythonValue } from '../python/value.ts'
import { type Api, PythonError, type Sources } from './api.ts'

/**
 * A file system as the original keeps it: objects that point at one another. Copied folders share their files, a moved
 * folder shares its table with the one that it was, and what is in it still has that one as its parent. So the state
 * is a list of nodes and a list of tables, and places in them are the references.
 */
export interface FileSystem {
  root: number
  here: number
  nodes: Node[]
  tables: [name: string, node: number][][]
}

type Node = File | Directory

interface File {
  name: string
  content: string
}

interface Directory {
  name: string
  parent: number | null
  table: number
}

interface Written {
  readonly type: string
  readonly content?: string
  readonly contents?: PythonValue
}

export const fileSystem: Api<FileSystem> = {
  load({ root }, sources) {
    const files: FileSystem = { root: 0, here: 0, nodes: [], tables: [] }
    const [[name, top] = ['/', null]] = entriesIn(root ?? {})
    createDirectory(files, name, null)
    if (top) fill(files, 0, top.contents as PythonValue, sources)
    return files
  },

  compared(files) {
    return { cwd: pathOf(files), tree: [directoryAt(files, files.root).name, treeOf(files, files.root)] }
  },

  methods: {
    pwd: (files) => ({ current_working_directory: pathOf(files) }),

    ls(files, { a }: { a?: boolean }) {
      const names = tableOf(files, files.here).map(([name]) => name)
      return { current_directory_content: a ? names : names.filter((name) => !name.startsWith('.')) }
    },

    cd(files, { folder: given }: { folder: string }) {
      const folder = given.replace(/\/+$/, '') || '/'
      if (folder !== '/' && folder.includes('/'))
        return error(`cd: ${folder}: Unsupported path. Only one folder level at a time is supported.`)
      if (folder === '..') {
        const { parent } = directoryAt(files, files.here)
        if (parent === null) return error('Current directory is already the root. Cannot go back.')
        files.here = parent
        return {}
      }
      const found = navigate(files, folder)
      if (found === null) return error(`cd: '${folder}': No such file or directory`)
      files.here = found
      return { current_working_directory: directoryAt(files, found).name }
    },

    mkdir(files, { dir_name: name }: { dir_name: string }) {
      if (isInvalid(name)) return error(`mkdir: cannot create directory '${name}': Invalid character`)
      if (nodeOf(files, name) !== null) return error(`mkdir: cannot create directory '${name}': File exists`)
      addDirectory(files, files.here, name)
      return null
    },

    touch(files, { file_name: name }: { file_name: string }) {
      if (isInvalid(name)) return error(`touch: cannot touch '${name}': Invalid character`)
      if (nodeOf(files, name) !== null) return error(`touch: cannot touch '${name}': File exists`)
      addFile(files, files.here, name, '')
      return null
    },

    echo(files, { content, file_name: name }: { content: string; file_name?: string | null }) {
      if (name === undefined || name === null) return { terminal_output: content }
      if (isInvalid(name)) return error(`echo: cannot write to '${name}': Invalid character`)
      if (name === '') return { terminal_output: content }
      const node = nodeOf(files, name)
      if (node === null) return error(`echo: cannot write to '${name}': No such file`)
      if (!isFile(node)) throw new PythonError("'Directory' object has no attribute '_write'")
      node.content = content
      return null
    },

    cat(files, { file_name: name }: { file_name: string }) {
      if (isInvalid(name)) return error(`cat: '${name}': Invalid character`)
      const node = nodeOf(files, name)
      if (node === null) return error(`cat: '${name}': No such file or directory`)
      return isFile(node) ? { file_content: node.content } : error(`cat: '${name}': Is a directory`)
    },

    find(files, { path = '.', name }: { path?: string; name?: string | null }) {
      const start = navigate(files, path)
      if (start === null) return error(`find: '${path}': No such file or directory`)
      const matches: string[] = []
      const search = (directory: number, base: string, depth: number) => {
        assertDepth(depth)
        for (const [entry, node] of tableOf(files, directory)) {
          const place = `${base}/${entry}`
          if (name === undefined || name === null || entry.includes(name)) matches.push(place)
          if (!isFile(files.nodes[node] as Node)) search(node, place, depth + 1)
        }
      }
      search(start, path.replace(/\/+$/, ''), 0)
      return { matches }
    },

    wc(files, { file_name: name, mode = 'l' }: { file_name: string; mode?: string }) {
      if (!['l', 'w', 'c'].includes(mode)) return error(`wc: invalid mode '${mode}'`)
      const content = contentOf(files, name)
      if (content === null) return error(`wc: ${name}: No such file or directory`)
      if (mode === 'l') return { count: splitlines(content).length, type: 'lines' }
      if (mode === 'w') return { count: splitWords(content).length, type: 'words' }
      return { count: [...content].length, type: 'characters' }
    },

    sort(files, { file_name: name }: { file_name: string }) {
      const content = contentOf(files, name)
      if (content === null) return error(`sort: ${name}: No such file or directory`)
      // Bytes of UTF-8 have the order of code points, in which Python sorts.
      const sorted = splitlines(content).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      return { sorted_content: sorted.join('\n') }
    },

    grep(files, { file_name: name, pattern }: { file_name: string; pattern: string }) {
      const content = contentOf(files, name)
      if (content === null) return error(`grep: ${name}: No such file or directory`)
      return { matching_lines: splitlines(content).filter((line) => line.includes(pattern)) }
    },

    du(files, { human_readable: human }: { human_readable?: boolean }) {
      const sizeOf = (at: number, depth: number): number => {
        assertDepth(depth)
        const node = files.nodes[at] as Node
        if (isFile(node)) return Buffer.byteLength(node.content)
        return tableOf(files, at).reduce((sum, [, child]) => sum + sizeOf(child, depth + 1), 0)
      }
      let size = sizeOf(files.here, 0)
      if (!human) return { disk_usage: `${size} bytes` }
      for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
        if (size < 1024) return { disk_usage: `${formatFixed(size, 2)} ${unit}` }
        size /= 1024
      }
      return { disk_usage: `${formatFixed(size, 2)} PB` }
    },

    tail(files, { file_name: name, lines = 10 }: { file_name: string; lines?: number }) {
      const content = contentOf(files, name)
      if (content === null) return error(`tail: ${name}: No such file or directory`)
      const all = splitlines(content)
      return { last_lines: all.slice(-Math.min(lines, all.length)).join('\n') }
    },

    diff(files, { file_name1: one, file_name2: two }: { file_name1: string; file_name2: string }) {
      const [before, after] = [contentOf(files, one), contentOf(files, two)]
      if (before === null || after === null) return error(`diff: ${one} or ${two}: No such file or directory`)
      const others = splitlines(after)
      const changed = splitlines(before).flatMap((line, at) => {
        const other = others[at]
        return other === undefined || other === line ? [] : [`- ${line}\n+ ${other}`]
      })
      return { diff_lines: changed.join('\n') }
    },

    mv(files, { source, destination }: { source: string; destination: string }) {
      const [into, problem] = targetOf(files, 'mv', 'move', source, destination)
      if (problem) return problem
      if (into !== null && findPlace(files, into, source) !== null)
        return error(`mv: cannot move '${source}' to '${destination}/${source}': File exists`)
      const node = nodeOf(files, source) as Node
      remove(files, source)
      const name = into === null ? destination : source
      if (isFile(node)) addFile(files, into ?? files.here, name, node.content)
      else addDirectory(files, into ?? files.here, name).table = node.table
      return { result: `'${source}' moved to '${into === null ? destination : `${destination}/${source}`}'` }
    },

    rm(files, { file_name: name }: { file_name: string }) {
      if (nodeOf(files, name) === null) return error(`rm: cannot remove '${name}': No such file or directory`)
      remove(files, name)
      return { result: `'${name}' removed` }
    },

    rmdir(files, { dir_name: name }: { dir_name: string }) {
      const node = nodeOf(files, name)
      if (node === null) return error(`rmdir: cannot remove '${name}': No such file or directory`)
      if (isFile(node)) return error(`rmdir: cannot remove '${name}': Not a directory`)
      if (files.tables[node.table]?.length) return error(`rmdir: cannot remove '${name}': Directory not empty`)
      remove(files, name)
      return { result: `'${name}' removed` }
    },

    cp(files, { source, destination }: { source: string; destination: string }) {
      const [into, problem] = targetOf(files, 'cp', 'copy', source, destination)
      if (problem) return problem
      const node = nodeOf(files, source) as Node
      const name = into === null ? destination : source
      if (isFile(node)) addFile(files, into ?? files.here, name, node.content)
      else {
        const copy = addDirectory(files, into ?? files.here, name)
        // The table is copied, and what it points at is not.
        files.tables[copy.table] = (files.tables[node.table] as FileSystem['tables'][number]).map(([entry, at]) => [
          entry,
          at,
        ])
      }
      return { result: `'${source}' copied to '${into === null ? destination : `${destination}/${source}`}'` }
    },
  },
}

function error(text: string) {
  return { error: text }
}

function fill(files: FileSystem, at: number, contents: PythonValue, sources: Sources): void {
  let isBottom = true
  const table = tableOf(files, at)
  const { isLong } = sources
  for (const [name, { type, content, contents: inner }] of entriesIn(contents))
    if (type === 'directory') {
      isBottom = false
      const child = createDirectory(files, name, at)
      fill(files, child, inner as PythonValue, sources)
      table.push([name, child])
    } else {
      const extension =
        isLong && !sources.long<string[]>('FILES_TAIL_USED').includes(name)
          ? sources.long('FILE_CONTENT_EXTENSION')
          : ''
      table.push([name, files.nodes.push({ name, content: `${content}${extension}` }) - 1])
    }
  if (isBottom && isLong)
    for (const name of sources.long<string[]>('POPULATE_FILE_EXTENSION')) addFile(files, at, name, '')
}

function entriesIn(contents: PythonValue): readonly (readonly [string, Written])[] {
  return entriesOf(contents as PythonDict) as unknown as readonly (readonly [string, Written])[]
}

function isFile(node: Node): node is File {
  return 'content' in node
}

function directoryAt(files: FileSystem, at: number): Directory {
  return files.nodes[at] as Directory
}

function tableOf(files: FileSystem, directory: number): FileSystem['tables'][number] {
  return files.tables[directoryAt(files, directory).table] as FileSystem['tables'][number]
}

/** Returns the place of what a folder has under a name. A folder that has something called `.` is that itself. */
function findPlace(files: FileSystem, directory: number, name: string): number | null {
  const entry = tableOf(files, directory).find(([other]) => other === name)
  if (!entry) return null
  return name === '.' ? directory : entry[1]
}

/** Returns what the current folder has under a name. */
function nodeOf(files: FileSystem, name: string): Node | null {
  const place = findPlace(files, files.here, name)
  return place === null ? null : (files.nodes[place] as Node)
}

function contentOf(files: FileSystem, name: string): string | null {
  const node = nodeOf(files, name)
  return node && isFile(node) ? node.content : null
}

function createDirectory(files: FileSystem, name: string, parent: number | null): number {
  return files.nodes.push({ name, parent, table: files.tables.push([]) - 1 }) - 1
}

function addDirectory(files: FileSystem, parent: number, name: string): Directory {
  assertFree(files, parent, 'Directory', name)
  const place = createDirectory(files, name, parent)
  tableOf(files, parent).push([name, place])
  return directoryAt(files, place)
}

function addFile(files: FileSystem, directory: number, name: string, content: string): void {
  assertFree(files, directory, 'File', name)
  tableOf(files, directory).push([name, files.nodes.push({ name, content }) - 1])
}

function assertFree(files: FileSystem, directory: number, what: string, name: string): void {
  if (tableOf(files, directory).some(([other]) => other === name))
    throw new PythonError(`${what} '${name}' already exists in directory '${directoryAt(files, directory).name}'.`)
}

function remove(files: FileSystem, name: string): void {
  const table = tableOf(files, files.here)
  table.splice(
    table.findIndex(([other]) => other === name),
    1,
  )
}

/** Returns the folder that something is moved or copied into, `null` to rename it; or what the answer is instead. */
function targetOf(
  files: FileSystem,
  tool: string,
  does: string,
  source: string,
  destination: string,
): [into: number | null, problem?: { error: string }] {
  if (nodeOf(files, source) === null)
    return [null, error(`${tool}: cannot ${does} '${source}': No such file or directory`)]
  if (destination.includes('/'))
    return [null, error(`${tool}: path not allowed in destination. Provide only a file or directory name.`)]
  const place = findPlace(files, files.here, destination)
  if (place !== null && isFile(files.nodes[place] as Node))
    return [null, error(`${tool}: cannot ${does} '${source}' to '${destination}': Not a directory`)]
  return [place]
}

/** Returns the folder at a path, `null` if there is none. Names go down alone: `..` is a name like others. */
function navigate(files: FileSystem, path: string): number | null {
  if (path === '.') return files.here
  if (path === '/') return files.root
  let place = path.startsWith('/') ? files.root : files.here
  for (const name of path.replace(/^\/+|\/+$/g, '').split('/')) {
    const next = name === '.' ? place : findPlace(files, place, name)
    if (next === null || isFile(files.nodes[next] as Node)) return null
    place = next
  }
  return place
}

function pathOf(files: FileSystem): string {
  const names: string[] = []
  for (let at: number | null = files.here; at !== null; ) {
    const { name, parent }: Directory = directoryAt(files, at)
    names.unshift(name)
    at = parent
  }
  return `/${names.join('/')}`
}

/** Returns a folder as dicts. Where one is within itself, the original's comparison does not come to an end. */
function treeOf(files: FileSystem, directory: number, within: readonly number[] = []): PythonValue {
  const { table } = directoryAt(files, directory)
  if (within.includes(table)) return { $repr: 'endless' }
  return {
    $dict: tableOf(files, directory).map(([name, at]) => {
      const node = files.nodes[at] as Node
      return [name, isFile(node) ? node.content : [node.name, treeOf(files, at, [...within, table])]]
    }),
  }
}

/** A folder that was copied into itself has no end. */
function assertDepth(depth: number): void {
  if (depth > 900) throw new PythonError('maximum recursion depth exceeded')
}

function isInvalid(name: string): boolean {
  return /[|/\\?%*:"><]/.test(name)
}
