import { check } from '../../check.js'
import { compute } from '../src/index.js'
import { tokensOf } from '../src/tokens.js'

check('a number', () => compute('12.5'), 12.5)
check('a name', () => compute('width', { width: 3 }), 3)
check(
  'kinds',
  () =>
    tokensOf('2 * (a_1 - 3)')
      .map(({ kind }) => kind[0] + kind[1])
      .join(' '),
  'nu si si na si nu si',
)
check('what means nothing', () => compute('2 $ 3'), 'error: cannot read: $')
