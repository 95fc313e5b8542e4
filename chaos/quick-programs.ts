/** The quick form of a program. */
export interface QuickProgram {
  /** Its name, then its options. */
  readonly args: readonly string[]
  /** A program of the system that it needs. */
  readonly needs?: 'bwrap' | 'redis-server' | 'strace'
  /** It compares or bounds how long something takes, so that `verify` runs it when the system tests have ended. */
  readonly isTimed?: true
  /** What its line of JSON must contain, besides `ok`. */
  readonly figures: Readonly<Record<string, unknown>>
}

const NOTHING_BROKEN = { lost: 0, doubled: 0, unstable: 0, wrongSums: 0, wrongStates: 0 }

/** The quick form of every program, with the figures that it must report. */
export const QUICK_PROGRAMS: readonly QuickProgram[] = [
  {
    args: ['step', '--store', 'sqlite'],
    figures: { ...NOTHING_BROKEN, steps: 1_600, kills: 5, pagesLeft: 0 },
  },
  {
    args: ['step', '--store', 'redis'],
    needs: 'redis-server',
    figures: { ...NOTHING_BROKEN, steps: 1_600, kills: 5, pagesLeft: 0 },
  },
  { args: ['crashpoints'], needs: 'strace', figures: { points: 10, killed: 10 } },
  {
    args: ['redis'],
    needs: 'redis-server',
    figures: { ...NOTHING_BROKEN, kills: 2, pagesLeft: 0, rolledBack: 64, silent: 0 },
  },
  {
    args: ['fleet'],
    isTimed: true,
    needs: 'redis-server',
    figures: Object.fromEntries([
      ['kills', 6],
      ...['always', 'everysec'].map((sync) => [
        sync,
        { lost: 0, doubled: 0, differing: 0, unknown: 0, scheduled: 200, finished: 200 },
      ]),
    ]),
  },
  { args: ['workspace'], figures: { commands: 108, kills: 2, differing: 0, pagesLeft: 0, hostile: 15 } },
  {
    args: ['machine'],
    needs: 'bwrap',
    figures: { commands: 96, kills: 2, differing: 0, leftFolders: 0, leftProcesses: 0, hostile: 11, reached: 0 },
  },
  {
    args: ['sandboxes'],
    needs: 'bwrap',
    figures: { commands: 80, played: 80, containersLost: 3, wrong: 0, orphans: 0, folders: 0 },
  },
  { args: ['zombie'], needs: 'redis-server', figures: { writers: 20, acceptedAfter: 0, wrongStates: 0, pagesLeft: 0 } },
  { args: ['isolation'], figures: { sessions: 32, kills: 1, leakedBytes: 0, differing: 0 } },
  { args: ['neighbours'], figures: { rounds: 1, leakedBytes: 0, differing: 0 } },
  { args: ['snapshots'], figures: { kinds: 6, forgeries: 72, unclear: 0 } },
  { args: ['files'], needs: 'strace', figures: { points: 5, killed: 5 } },
  { args: ['continue'], figures: { kills: 2, pageKills: 3, lost: 0, doubled: 0, differing: 0, unknown: 0 } },
  { args: ['leak'], figures: { differing: 0, found: 0, seats: { games: 2, differing: 0 } } },
  {
    args: ['fuzz'],
    isTimed: true,
    figures: Object.fromEntries(
      ['http', 'stdio', 'in-process'].map((endpoint) => [endpoint, { sent: 1_500, hangs: 0, failed: 0, exits: 0 }]),
    ),
  },
  {
    args: ['gateway'],
    figures: { agents: 6, sent: 120, turns: 20, reached: 0, leaked: 0, differing: 0, lost: 0, changed: 0 },
  },
  {
    args: ['parking'],
    figures: {
      changed: { rollouts: 32, changes: 4, lost: 0, twice: 0, unversioned: 0, begunAgain: 0 },
      killed: { killed: 8, lost: 0, twice: 0, unversioned: 0 },
    },
  },
  { args: ['slowloris'], isTimed: true, figures: { errors: 0 } },
  { args: ['agents'], isTimed: true, figures: { agents: 50, kills: 1, late: 0 } },
  {
    args: ['endpoints', '--store', 'sqlite'],
    figures: {
      kills: 2,
      endpoints: Object.fromEntries(
        [
          'openenv',
          'openenv-mcp',
          'nemo-gym',
          'nemo-gym-first-cookie',
          'nemo-gym-gymnasium',
          'nemo-gym-gymnasium-first-cookie',
          'ors',
          'ors-confirm-calls',
        ].map((endpoint) => [endpoint, { doubled: 0, lost: 0, wrong: 0 }]),
      ),
    },
  },
  {
    args: ['seats', '--store', 'sqlite'],
    figures: { steps: 384, kills: 2, lost: 0, doubled: 0, unstable: 0, outOfTurn: 0, wrongReturns: 0 },
  },
  {
    args: ['learn', '--store', 'sqlite'],
    figures: {
      equal: true,
      differing: 0,
      kills: 2,
      workerKills: 1,
      failures: 0,
    },
  },
  { args: ['drain'], isTimed: true, figures: { status: 0, lost: 0, doubled: 0 } },
]
