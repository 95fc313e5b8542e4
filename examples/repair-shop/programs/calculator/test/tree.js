import { check } from '../../check.js'
import { compute } from '../src/index.js'

check('rank', () => compute('1 + 2 * 3 - 4'), 3)
check('from the left', () => compute('9 - 4 - 3'), 2)
check('from the right', () => compute('2 ^ 3 ^ 2'), 512)
check('brackets', () => compute('2 * (3 + 4)'), 14)
check('minus', () => compute('-2 ^ 2 + -(3)'), 1)
check('an end too early', () => compute('2 *'), 'error: unexpected end')
check('an open bracket', () => compute('(2'), 'error: unexpected end')
check('a bracket too many', () => compute('2 )'), 'error: unexpected: )')
check('two numbers', () => compute('2 3'), 'error: unexpected: 3')
check('a sign alone', () => compute('* 3'), 'error: unexpected: *')
