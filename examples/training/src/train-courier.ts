/**
 * Trains couriers in a street whose checkpoint pays each time, and in the same street after the mistake was fixed, and
 * prints what they earn beside what they deliver.
 *
 *   node src/train-courier.ts
 *   node src/train-courier.ts --out ../../docs/images
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { estimateOf } from './figures/estimate.ts'
import { drawRewardHacking } from './figures/reward-hacking-figure.ts'
import { SEEDS } from './hyperparameters.ts'
import { type CourierName, type HackingPoint, trainCourier } from './learner/reward-hacking.ts'

const { values: options } = parseArgs({ options: { out: { type: 'string' } } })

const points: HackingPoint[] = []
for (const world of ['exploitable', 'fixed'] as const)
  for (const seed of SEEDS) {
    const trained = await trainCourier({ world, seed })
    points.push(...trained.points)
    console.log(`${world.padEnd(12)} seed ${seed}  SHA-256 of the parameters: ${trained.parameters}`)
  }
for (const world of ['exploitable', 'fixed'] as const) print(world)
if (options.out !== undefined) {
  const lines = points.map((point) => `${JSON.stringify(point)}\n`).join('')
  await writeFile(join(options.out, 'reward-hacking.jsonl'), lines)
  await writeFile(join(options.out, 'reward-hacking.svg'), await drawRewardHacking(points))
}

function print(world: CourierName): void {
  console.log(`\n${world}: means over ${SEEDS.length} seeds, with 95 % intervals`)
  const own = Map.groupBy(
    points.filter((point) => point.world === world),
    ({ episodes }) => episodes,
  )
  for (const [episodes, group] of own) {
    const [earned, delivered] = [
      estimateOf(group.map((point) => point.return)),
      estimateOf(group.map(({ success }) => success)),
    ]
    const range = ({ mean, low, high }: typeof earned) => `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`
    console.log(`${String(episodes).padStart(6)} episodes  return ${range(earned)}  delivered ${range(delivered)}`)
  }
}
