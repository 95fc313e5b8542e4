import { spaced } from '../notations.ts'

/** It speaks as a model, or of what it plays; as the agent; of itself as somebody else. */
const OUT_OF_ROLE = new RegExp(
  [
    /(?:as|i(?:'m| am|'ll be)) an? (?:ai\b|(?:large )?language model|llm|chat ?bot|(?:virtual |digital )?assistant)/,
    /(?:as an? |i(?:'m| am) (?:only |just )?(?:an? )?)(?:user )?simulat\w+|(?:user|customer) simulat\w*|the simulation/,
    /my (?:system prompt|prompt|instructions?|script|scenario|persona|role)|(?:the|this) (?:system prompt|prompt|script|scenario|persona|role.?play)/,
    /i(?:'m| am) (?:playing|pretending|acting as|role.?playing)|(?:in|of|break(?:ing)?) character|(?:meant|here|want(?:ed)?) to test you/,
    /i(?:'m| was| am| have been) (?:asked|instructed|prompted|supposed|programmed) to (?:act|play|pretend|simulate|role|write|not )/,
    /(?:how|what) (?:can|may) i (?:help|assist|do for) you|else (?:that )?i can (?:help|assist|do for) you|i(?:'d| would) be (?:happy|glad) to (?:help|assist)/,
    /thank(?:s| you) for (?:calling|contacting|shopping|choosing|your (?:order|purchase|call))|i(?: can|'ll| will) (?:gladly )?(?:help|assist) you|(?:dear|valued) customer/,
    /let me (?:look|pull|check|verify|find|see)[^.?!]{0,40} (?:your|for you)|i can (?!check|look|try|hold|read|send)[^.?!]{0,40} for you/,
    /(?:i|we)(?:'ve| have|'ll| will)? (?:process|cancel|refund|updat|issu|locat|reset|activat|book|upgrad|arrang|exchang)\w* (?:your?|[^.?!]{0,40} for you)/,
    /your (?:refund|request|order|booking|reservation|account|claim) (?:has been|was|is|will be) (?:process|updat|cancel|issu|approv|confirm|book)\w*|your confirmation/,
    /our (?:system|records|database|policy|team|department|specialists?|customers?)|your (?:phone|device|sim card)(?! (?:number|line|support))/,
    /have a (?:pleasant|safe|good|nice) (?:flight|trip|journey|stay)|(?:do not|don't) hesitate to|if you have (?:any )?(?:further|other|more) questions/,
    /would you like to (?:receive|proceed|continue)|the (?:user|customer|caller) (?:wants?|would|says?|should|needs?)/,
  ]
    .map(({ source }) => `\\b(?:${source})\\b`)
    .join('|'),
  'i',
)
const REPEATED_WORDS = 9

/** Returns the words by which a turn is not one of the person that the prompt describes. */
export function outOfRole(turn: string, prompt: string): string | null {
  const found = OUT_OF_ROLE.exec(turn.replaceAll('’', "'"))?.[0]
  if (found) return found
  const words = spaced(turn).split(' ')
  // But for what the prompt has it say, in quotes.
  const given = ` ${spaced(prompt.replace(/(?<!\w)(['"“‘]).{9,}?['"”’](?!\w)/g, ' … '))} `
  for (let at = 0; at + REPEATED_WORDS <= words.length; at++) {
    const run = words.slice(at, at + REPEATED_WORDS).join(' ')
    // Words to the user, or of the agent, which nobody says of itself.
    if (/\b(?:your?|agent|asked)\b/.test(run) && given.includes(` ${run} `)) return run
  }
  return null
}
