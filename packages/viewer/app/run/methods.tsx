import type { Summary } from '@episodic/report'
import { formatRules, plural } from '@episodic/report'

/** How the figures of a run are computed. */
export function Methods({ summary: { counts, branch, success } }: { readonly summary: Summary }) {
  const notes = [
    `Success is ${formatRules(success.rules)}. A failed episode has no score.`,
    'Intervals are 95 %, with the attempts of one task as one cluster, because they are not independent of each other. Those of means use cluster-robust standard errors (Liang & Zeger 1986; Miller 2024) and Student’s t with one degree of freedom less than tasks. Those of shares are Wilson’s (1927) at the effective sample size (Korn & Graubard 1998), which with one attempt per task is the number of episodes. pass@k is the unbiased estimate of Chen et al. (2021), averaged over tasks, and pass^k that of all k succeeding. There is no interval for a single task, nor for a mean on which all tasks agree.',
    'Unshaped return is the weighted sum of the reward terms. Shaped return adds γΦ(s′) − Φ(s) at each step, which does not change the optimal policy (Ng, Harada & Russell 1999).',
    'All figures are a fold over sealed episodes: neither their order nor repeated lines change them.',
    ...(branch
      ? [
          'Each rollout was forked: its leaves share steps, and the figures of steps count a shared step once for each leaf. A line that ended before it could branch counts for all of its leaves. The leaves of a rollout are not independent attempts, so pass@k has only k = 1.',
          'The value V̂ of a state is a Monte Carlo estimate (Sutton & Barto 2018, section 5.1): the mean of the discounted, unshaped return from there on, over lines with independent random draws in world and policy. It is the value of the full state under this policy, private part included. With few lines, the interval by Student’s t is only as good as a normal approximation.',
        ]
      : []),
    ...(counts.conflicts > 0
      ? [
          `${plural(counts.conflicts, 'sealed line')} conflicted with another line of the same episode. One line per episode counts; rewards by step and by term and step latencies include all of them.`,
        ]
      : []),
  ]
  return (
    <details class="methods">
      <summary>How these figures are computed</summary>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </details>
  )
}
