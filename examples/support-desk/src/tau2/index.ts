import { readRetailData } from './retail-data.ts'
import { createRetailWorld } from './retail-world.ts'

// A world for `episodic run`, which plays the files of a folder. No file of that folder is in this repository.

const folder = process.env.TAU2_RETAIL
if (!folder)
  throw new Error(
    'TAU2_RETAIL is not set. It names the folder with db.json, tasks.json and policy.md of the retail domain of τ²-bench.',
  )

export const { environment, tasks, solver } = createRetailWorld(readRetailData(folder))
