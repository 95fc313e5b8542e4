import { browserScene } from './browser-scene.ts'
import { databaseScene } from './database-scene.ts'
import { filesScene } from './files-scene.ts'
import type { Scene } from './scene.ts'
import { shellScene } from './shell-scene.ts'
import { shopScene } from './shop-scene.ts'
import { thinkingScene } from './thinking-scene.ts'
import { transactionScene } from './transaction-scene.ts'
import { twoAgentsScene } from './two-agents-scene.ts'

/** All scenes, in the order in which they are played. */
export const scenes: readonly Scene[] = [
  thinkingScene,
  browserScene,
  databaseScene,
  transactionScene,
  shellScene,
  filesScene,
  shopScene,
  twoAgentsScene,
]
