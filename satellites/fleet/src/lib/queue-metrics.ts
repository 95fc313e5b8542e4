import { renderMetric } from '@episodic/mcp-server/internal'
import type { QueueStatus } from './run-queue.ts'

type RunStatus = QueueStatus['runs'][number]

const RUN_METRICS: readonly (readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  of: (run: RunStatus) => number,
])[] = [
  [
    'coordinators',
    'gauge',
    'Whether a run has a coordinator; 0: it was interrupted.',
    (run) => (run.coordinator ? 1 : 0),
  ],
  ['open_jobs', 'gauge', 'Jobs without a result.', (run) => run.account.open],
  ['playing_jobs', 'gauge', 'Jobs in the hands of a worker.', (run) => run.playing],
  ['unread_results', 'gauge', 'Results that the run has not stored yet.', (run) => run.account.unread],
  ['jobs_total', 'counter', 'Jobs that were added.', (run) => run.account.added],
  ['results_total', 'counter', 'Results that were accepted.', (run) => run.account.sealed],
  [
    'withdrawn_jobs_total',
    'counter',
    'Jobs that were removed before a worker had begun them.',
    (run) => run.account.withdrawn,
  ],
  [
    'fenced_results_total',
    'counter',
    'Results of workers whose job was given to another.',
    (run) => run.account.fenced,
  ],
  ['lost_plays_total', 'counter', 'Plays whose worker ended or was silent.', (run) => run.account.lost],
]

export function renderQueueMetrics({ paused, runs, workers }: QueueStatus): string {
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  return [
    renderMetric('episodic_queue_paused', 'gauge', 'Whether no jobs are given out.', [[{}, paused ? 1 : 0]]),
    renderMetric('episodic_queue_workers', 'gauge', 'Workers that have joined.', [[{}, workers.length]]),
    renderMetric('episodic_queue_slots', 'gauge', 'Episodes that they play at once.', [[{}, slots]]),
    ...RUN_METRICS.map(([name, type, help, of]) =>
      renderMetric(
        `episodic_queue_${name}`,
        type,
        help,
        runs.map((run) => [{ run: run.id }, of(run)]),
      ),
    ),
  ].join('')
}
