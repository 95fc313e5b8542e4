/** One thing that a page has its reader do. `line` counts from 1 and is where the page asks for it. */
export type ReaderTask =
  /** A command of an `sh` block, or one that the prose names: `npx …`. */
  | { readonly kind: 'run'; readonly line: number; readonly command: string }
  /** A `ts` block after "save this as `file`". */
  | { readonly kind: 'save'; readonly line: number; readonly file: string; readonly text: string }
  /** A `json` block with `mcpServers`, for an MCP client. */
  | { readonly kind: 'configure'; readonly line: number; readonly text: string }

/**
 * Lists what a Markdown page has its reader do, in its order. A line of an `sh` block is a command, with the lines that
 * a backslash at its end continues; one that only sets a variable or defines a function belongs to the command after
 * it. Throws if a `ts` block has no file to be saved as.
 */
export function findReaderTasks(page: string): ReaderTask[] {
  const tasks: ReaderTask[] = []
  let prose = ''
  let block: { language: string; line: number; lines: string[] } | undefined
  for (const [index, text] of page.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(text)
    if (block && fence) {
      tasks.push(...tasksOfBlock(block, prose))
      block = undefined
      prose = ''
    } else if (block) block.lines.push(text)
    else if (fence) block = { language: fence[1] as string, line: index + 2, lines: [] }
    else {
      prose += `${text}\n`
      for (const [, command] of text.matchAll(/`(npx [^`]+)`/g))
        tasks.push({ kind: 'run', line: index + 1, command: command as string })
    }
  }
  return tasks
}

function tasksOfBlock(block: { language: string; line: number; lines: string[] }, prose: string): ReaderTask[] {
  const { language, line, lines } = block
  const text = `${lines.join('\n')}\n`
  if (language === 'sh') return commandsOf(lines, line)
  if (language === 'json' && text.includes('"mcpServers"')) return [{ kind: 'configure', line, text }]
  if (language !== 'ts') return []
  const [, file] = /save (?:this|it) as `([^`]+)`/i.exec(prose) ?? []
  if (file === undefined) throw new Error(`Line ${line}: the text before this block says no file to save it as.`)
  return [{ kind: 'save', line, file, text }]
}

function commandsOf(lines: readonly string[], first: number): ReaderTask[] {
  const commands: ReaderTask[] = []
  let before = ''
  let continued = ''
  for (const [index, line] of lines.entries()) {
    if (line.endsWith('\\')) {
      continued += `${line.slice(0, -1).trim()} `
      continue
    }
    const text = continued + line.trim()
    continued = ''
    if (/^\w+(=\$\(.*\)|='.*'|\(\) \{.*\})$/.test(text)) before += `${text}\n`
    else if (text !== '') {
      commands.push({ kind: 'run', line: first + index, command: before + text })
      before = ''
    }
  }
  return commands
}
