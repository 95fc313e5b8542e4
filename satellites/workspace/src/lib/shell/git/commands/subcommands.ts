import type { Subcommand } from '../call.ts'
import { blame } from './blame.ts'
import { branch, forEachRef } from './branches.ts'
import { checkout, restore, switchBranch } from './checkout.ts'
import { commit } from './commit.ts'
import { diff } from './diff.ts'
import { grep } from './grep.ts'
import { lsFiles, lsTree } from './listings.ts'
import { log, revList, shortlog } from './log.ts'
import { merge } from './merge.ts'
import {
  catFile,
  checkIgnore,
  hashObject,
  makeCommit,
  makeTree,
  mergeBase,
  mergeFile,
  revParse,
  symbolicRef,
  updateRef,
} from './objects.ts'
import { cherryPick, revert } from './picking.ts'
import { rebase } from './rebase.ts'
import { config, init, nameByTag, reflog, remote } from './repository-commands.ts'
import { reset } from './reset.ts'
import { show } from './show.ts'
import { add, clean, mv, rm } from './staging.ts'
import { stash } from './stash.ts'
import { status } from './status.ts'
import { tag } from './tags.ts'

interface Described {
  readonly run: Subcommand
  /** What it does, for `git help`. */
  readonly about: string
}

const command = (name: string, run: Subcommand, about: string): [string, Described] => [name, { run, about }]

/** The commands of git, by name. */
export const SUBCOMMANDS: ReadonlyMap<string, Described> = new Map([
  command('add', add, 'Add file contents to the index'),
  command('blame', blame, 'Show who has last changed each line'),
  command('branch', branch, 'List, create, rename or delete branches'),
  command('cat-file', catFile, 'Show an object'),
  command('check-ignore', checkIgnore, 'Say which files are ignored'),
  command('checkout', checkout, 'Switch branches or restore files'),
  command('cherry-pick', cherryPick, 'Apply commits once more'),
  command('clean', clean, 'Remove untracked files'),
  command('commit', commit, 'Record changes'),
  command('commit-tree', makeCommit, 'Make a commit of a tree'),
  command('config', config, 'Get and set options'),
  command('describe', nameByTag, 'Name a commit by a tag'),
  command('diff', diff, 'Show changes'),
  command('for-each-ref', forEachRef, 'List references'),
  command('grep', grep, 'Search tracked files'),
  command('hash-object', hashObject, 'Compute the id of an object'),
  command('init', init, 'Create a repository'),
  command('log', log, 'Show commits'),
  command('ls-files', lsFiles, 'List files of the index'),
  command('ls-tree', lsTree, 'List a tree'),
  command('merge', merge, 'Join histories'),
  command('merge-base', mergeBase, 'Find the common ancestor of commits'),
  command('merge-file', mergeFile, 'Merge three files'),
  command('mv', mv, 'Move or rename a file'),
  command('rebase', rebase, 'Apply commits on top of another'),
  command('reflog', reflog, 'Show where references have been'),
  command('remote', remote, 'List other repositories'),
  command('reset', reset, 'Move HEAD and the index to a commit'),
  command('restore', restore, 'Restore files'),
  command('rev-list', revList, 'List ids of commits'),
  command('rev-parse', revParse, 'Show the id of a revision'),
  command('revert', revert, 'Undo commits by new ones'),
  command('rm', rm, 'Remove files'),
  command('shortlog', shortlog, 'Count commits by author'),
  command('show', show, 'Show objects'),
  command('stash', stash, 'Put changes aside'),
  command('status', status, 'Show what has changed'),
  command('switch', switchBranch, 'Switch branches'),
  command('symbolic-ref', symbolicRef, 'Read and set what HEAD stands for'),
  command('tag', tag, 'List, create or delete tags'),
  command('update-ref', updateRef, 'Set a reference'),
  command('write-tree', makeTree, 'Make a tree of the index'),
])
