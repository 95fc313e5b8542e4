import type { Summary } from '@episodic/report'
import { Card, Section } from '../parts/card.tsx'
import { CurriculumPlot } from '../parts/plots/curriculum-plot.tsx'

/** The course of a curriculum: what it drew, and how often that was solved. */
export function Curriculum({ summary: { curriculum } }: { readonly summary: Summary }) {
  if (!curriculum) return null
  return (
    <Section title="Curriculum">
      <Card
        title="Success and difficulty by draw"
        caption="Of the tasks that were drawn, in the order of the draws. Only the first play of an episode counts, as in the curriculum itself."
        empty=""
        wide
      >
        <CurriculumPlot parts={curriculum} />
        <ul class="legend">
          <li>
            <i class="key good" />
            success rate
          </li>
          <li>
            <i class="key unshaped" />
            mean difficulty
          </li>
        </ul>
      </Card>
    </Section>
  )
}
