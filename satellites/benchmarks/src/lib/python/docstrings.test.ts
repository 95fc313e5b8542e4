import { describe, expect, it } from 'vitest'
import { readDocstrings } from './docstrings.ts'

const SOURCE = `
class Tools:
    def lift_box(
        self, box: Dict[str, Any], *, force: float = 0.5, note: str = "a, (b"  # how
    ) -> Dict[str, Any]:
        """
        Lifts a box.
        Look first: it may be open.

        Only then push.

        Args:
            box: The box to lift, with
                its key.
            force (float, optional): How hard: from 0 to 1.

        Returns:
            Whether it is open.
        """
        def inner():
            pass

    async def drop_box(self) -> str:
        """Closes it."""

def ring(bell: str, times):
    """Rings a bell.

    :param bell: The name
        of the bell.
    :param int times: How often.
    """
    return "def no_function(a):"
`

describe('readDocstrings', () => {
  const functions = readDocstrings(SOURCE)

  it('reads what a docstring says of a function and of its parameters', () => {
    expect(functions.get('lift_box')).toEqual({
      name: 'lift_box',
      short: 'Lifts a box.',
      long: 'Look first: it may be open.\n\nOnly then push.',
      args: { box: 'The box to lift, with\nits key.', force: 'How hard: from 0 to 1.' },
      parameters: [
        { name: 'box', type: 'Dict[str, Any]', default: null },
        { name: 'force', type: 'float', default: '0.5' },
        { name: 'note', type: 'str', default: '"a, (b"' },
      ],
    })
    expect(functions.get('drop_box')).toMatchObject({ short: 'Closes it.', long: '', args: {}, parameters: [] })
  })

  it('reads parameters in the style of reST', () => {
    expect(functions.get('ring')?.args).toEqual({ bell: 'The name\nof the bell.', times: 'How often.' })
  })

  it('lists functions without a docstring, and none that a text only mentions', () => {
    expect([...functions.keys()]).toEqual(['lift_box', 'inner', 'drop_box', 'ring'])
    expect(functions.get('inner')).toMatchObject({ short: '', long: '' })
  })
})
