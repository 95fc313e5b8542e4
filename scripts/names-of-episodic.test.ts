import * as episodic from 'episodic'
import * as http from 'episodic/http'
import * as testing from 'episodic/testing'
import * as matchers from 'episodic/vitest'
import { describe, expect, it } from 'vitest'

/** What an author calls, by what it is for. A name that goes has to go from the pages and examples too. */
const NAMES = [
  ...['defineEnvironment', 'defineGame', 'conversationEnvironment', 'defineMcpEnvironment', 'defineConversation'],
  ...['defineTasks', 'generateTasks', 'definePolicy', 'scriptedPolicy', 'randomPolicy', 'defineAgent', 'PlayerStop'],
  ...[
    'rehearse',
    'checkWorld',
    'defineGolden',
    'createHost',
    'inProcess',
    'connect',
    'runEpisode',
    'runMatch',
    'continueEpisode',
  ],
  ...['withLimits', 'withShaping', 'withWeights', 'defineGrader', 'judgeGrader'],
]

describe('episodic', () => {
  it('has everything that an author calls, from one package', () => {
    expect(Object.keys(episodic).sort()).toEqual(NAMES.toSorted())
    expect(Object.keys(testing)).toEqual(['describeForks', 'describeGolden'])
    expect(Object.keys(matchers)).toEqual(['playEpisode', 'recordedModel'])
    expect(Object.keys(http)).toEqual(['serveHttp'])
  })
})
