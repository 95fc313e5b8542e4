import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What both shells begin every command line for git with: the same time and name for each commit. */
export const BEGINNING =
  "export GIT_AUTHOR_DATE='1735689600 +0100' GIT_COMMITTER_DATE='1735689700 +0000' GIT_EDITOR=true; "

/** Makes a repository with a history, by the git of the machine: branches, tags, a merge, and objects in a pack. */
const HISTORY = `
commit() { GIT_AUTHOR_DATE="$1 +0000" GIT_COMMITTER_DATE="$1 +0000" git commit -qm "$2"; }
git init -q -b main .
git config user.name 'Ada Lovelace'; git config user.email ada@example.com
mkdir -p src/lib docs
seq 1 40 > numbers.txt
printf 'import { log } from "./lib/log.js"\\n\\nexport function add(a, b) {\\n  log(a, b)\\n  return a + b\\n}\\n\\nexport function sub(a, b) {\\n  return a - b\\n}\\n' > src/add.js
printf 'export function log(...args) {\\n  return args.join(" ")\\n}\\n' > src/lib/log.js
printf '# Shop\\n\\nA small shop.\\n' > README.md
printf 'node_modules/\\n*.log\\n!keep.log\\n/build\\n' > .gitignore
git add -A; commit 1700000000 'Begin the shop'
printf '\\nexport function mul(a, b) {\\n  return a * b\\n}\\n' >> src/add.js
git add -A; commit 1700003600 'Multiply numbers

The shop needs it for prices.'
git tag v1.0
git checkout -q -b feature
sed -i 's/^5$/five/; s/^30$/thirty/' numbers.txt; printf 'How to use it.\\n' > docs/use.md
git add -A; commit 1700007200 'Write numbers as words'
printf 'Another line.\\n' >> docs/use.md
git add -A; git config user.name Grace; commit 1700010800 'Say more of the use'; git config user.name 'Ada Lovelace'
git checkout -q main
printf 'It is open.\\n' >> README.md
git add -A; commit 1700014400 'Say that it is open'
GIT_AUTHOR_DATE='1700018000 +0000' GIT_COMMITTER_DATE='1700018000 +0000' git merge -q --no-ff -m "Merge branch 'feature'" feature
git mv docs/use.md docs/usage.md; commit 1700021600 'Rename the page'
GIT_COMMITTER_DATE='1700021700 +0000' git tag -a v2.0 -m 'Second version'
git gc -q
git checkout -q -b other
sed -i 's/^20$/twenty/' numbers.txt; sed -i 's/A small shop/A large shop/' README.md
git commit -qam x; GIT_AUTHOR_DATE='1700025200 +0000' GIT_COMMITTER_DATE='1700025200 +0000' git commit -q --amend --reset-author -m 'Grow the shop'
git checkout -q main
sed -i 's/A small shop/A tiny shop/' README.md; git add -A; commit 1700028800 'Shrink the shop'
`

/** Returns a folder with a repository. */
export function makeRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-repository-'))
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/nowhere', TZ: 'UTC' }
  execFileSync('bash', ['-ec', HISTORY], { cwd: folder, env })
  return folder
}
