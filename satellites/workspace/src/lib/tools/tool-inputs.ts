import type { Tool } from '@episodic/mcp-server'
import { z } from 'zod'

const path = z.string().min(1).max(4_096)
const file = path.describe('Absolute, or relative to the working directory.')

export const toolInputs = {
  bash: z.object({ command: z.string().min(1).max(65_536).describe('The command line.') }),
  read_file: z.object({
    path: file,
    start_line: z.int().min(1).max(10_000_000).default(1).describe('The first line to read.'),
    lines: z.int().min(1).max(10_000).default(500).describe('How many lines to read.'),
  }),
  write_file: z.object({ path: file, content: z.string().max(524_288).describe('All of its text.') }),
  edit_file: z.object({
    path: file,
    old_text: z.string().min(1).max(262_144).describe('The exact text to replace, with its white space.'),
    new_text: z.string().max(262_144).describe('What takes its place; empty to remove it.'),
    all: z.boolean().default(false).describe('Replace it wherever it is.'),
  }),
  list_files: z.object({
    path: path.default('.').describe('The directory. Default: the working directory.'),
    depth: z.int().min(1).max(20).default(2).describe('How many levels to list.'),
  }),
  search: z.object({
    pattern: z.string().min(1).max(1_000).describe('The regular expression.'),
    path: path.default('.').describe('The file or directory. Default: the working directory.'),
  }),
  sql: z.object({
    database: path.describe('The file of the database; it is created if there is none.'),
    sql: z.string().min(1).max(65_536).describe('One or several statements.'),
  }),
}

export type WorkspaceTools = { readonly [Name in keyof typeof toolInputs]: Tool<(typeof toolInputs)[Name], null> }
